import type { Executor, Tx } from "../../../db/connect.ts";
import { type RowOf, text, uuid } from "../../../db/row.ts";
import { command, query } from "../../../db/sql.ts";
import type { ComplianceState } from "../../../domain/compliance/model.ts";
import type { OutcomeNames } from "../../../domain/compliance/outcome.ts";
import type { Timestamp } from "../../../lib/clock.ts";
import { listParts } from "../../../lib/json-parts.ts";
import type { Steps } from "../../../lib/steps.ts";

/** A verdict on a trail, ready to be stored. */
export interface Verdict {
  trail_id: string;
  state: ComplianceState;
  /** The state of the trail's own attestations. */
  own_state: ComplianceState;
  /** JSON text of the states of the artifacts, by template name, in parts. */
  artifact_states: readonly string[];
  /** JSON text of what reads show, in parts. */
  status: readonly string[];
  /** When the trail itself was last judged anew. */
  evaluated_at: Timestamp;
  /** Digest of what the verdict says of the trail itself. */
  own_digest: string;
  /** When the trail was last reported to. */
  reported_at: Timestamp;
  /** Which attestations were reported, fail and are missing. */
  names: OutcomeNames;
}

/** Where the latest of some artifacts of a flow comes from. */
export interface FlowOrigin {
  flow_id: string;
  artifact_id: string;
  repo_id: string | null;
  /** Given with the artifact, in place of its repo's. */
  repo_url: string | null;
}

/** JSON of verdicts, as the database takes it: bytes where it is long, of which the driver makes nothing but a copy. */
export type WrittenVerdicts = string | Buffer;

/** Characters up to which JSON is handed to the driver as text. */
const shortText = 1024 * 1024;

function* joined(texts: readonly string[]): Steps<WrittenVerdicts> {
  if (texts.reduce((sum, { length }) => sum + length, 0) <= shortText) return texts.join("");
  let length = 0;
  for (const text of texts) {
    yield;
    length += Buffer.byteLength(text);
  }
  const bytes = Buffer.allocUnsafe(length);
  let at = 0;
  for (const text of texts) {
    yield;
    at += bytes.write(text, at);
  }
  return bytes;
}

/** Writes verdicts as JSON. What may be long in one is written in parts. */
export function* writeVerdicts(verdicts: readonly Verdict[]): Steps<WrittenVerdicts> {
  const written: string[] = [];
  for (const { status, artifact_states, names, ...rest } of verdicts) {
    yield;
    written.push(written.length === 0 ? "[" : ",", JSON.stringify(rest).slice(0, -1), ',"names":{');
    for (const [at, list] of (["reported", "failing", "missing"] as const).entries())
      written.push(`${at === 0 ? "" : ","}"${list}":`, ...(yield* listParts(names[list])));
    written.push('},"artifact_states":');
    for (const part of artifact_states) written.push(part);
    written.push(',"status":"');
    for (const part of status) {
      yield;
      written.push(JSON.stringify(part).slice(1, -1));
    }
    written.push('"}');
  }
  yield;
  return yield* joined(written.length === 0 ? ["[]"] : [...written, "]"]);
}

/**
 * Stores verdicts in place of those that trails had, what they come to in short, and notes which trail of each flow was last reported to, and its
 * latest artifact if it is among `origins`, in one statement (`migrations/0060`). Rows are locked in order, so that writers of several
 * trails do not deadlock, and before the organization's counter, which every write takes last.
 * @param verdicts as `writeVerdicts` writes them.
 */
export function putVerdicts(
  tx: Tx,
  orgId: string,
  verdicts: WrittenVerdicts,
  origins: readonly FlowOrigin[],
): void {
  tx.send(command("put-verdicts")`
    select store_verdicts(${orgId}, ${verdicts}::json, ${JSON.stringify(origins)}::json)`);
}

const state = { trail_id: uuid, state: text };

/** Lists the stored states of trails. */
export function listStates(
  db: Executor,
  orgId: string,
  trailIds: readonly string[],
): Promise<RowOf<typeof state>[]> {
  return db.all(query(state)`
    select trail_id, state from trail_compliance where org_id = ${orgId} and trail_id = any(${trailIds}::uuid[])`);
}
