import type { Executor } from "../../../db/connect.ts";
import { nullable, text } from "../../../db/row.ts";
import { query } from "../../../db/sql.ts";
import type { Timestamp } from "../../../lib/clock.ts";
import { writeJson } from "../../../lib/exact-json.ts";
import type { NewAttestation } from "./store.ts";

/** Everything that is written for some attestations. */
export interface WrittenAttestations {
  /** Versions of repos that have to be as they were. */
  repos: readonly { id: string; version: string }[];
  /** Their trails, as the database's `move_trails` takes them. */
  trails: readonly unknown[];
  attestations: readonly NewAttestation[];
  /** JSON of the verdicts on the trails, with the attestations. */
  verdicts: string | Buffer;
  /** JSON text of the entries of the audit log. */
  entries: string;
  at: Timestamp;
}

/**
 * Writes attestations with all that follows from them in one statement and so in one transaction, which must be its own
 * (`migrations/0105`). Rows are locked in the order of all writers: flows, trails, what is kept of flows, the organization's
 * counter.
 * @returns the version that the rows of all the trails have now; null, having written nothing, when what was looked at has changed since.
 * @throws DatabaseError serialization_failure when a trail was begun by somebody else at the same time.
 */
export async function writeAttestations(
  db: Executor,
  orgId: string,
  { repos, trails, attestations, verdicts, entries, at }: WrittenAttestations,
): Promise<string | null> {
  const { version } = await db.one(query("write-attestations", { version: nullable(text) })`
    select write_attestations_as_seen(${orgId}, ${JSON.stringify(repos)}::json, ${JSON.stringify(trails)}::json,
      ${writeJson(attestations)}::json, ${verdicts}::json, ${entries}::json, ${at}) as version`);
  return version;
}
