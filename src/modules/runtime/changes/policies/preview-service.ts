import type { Executor, Tx } from "../../../../db/connect.ts";
import { transaction } from "../../../../db/transaction.ts";
import { invalid, invalidInput } from "../../../../domain/errors.ts";
import { judgingProblem, measureJudging } from "../../../../domain/judging.ts";
import { previewLimits } from "../../../../domain/policies.ts";
import { wantedAttestations } from "../../../../domain/policy/evaluation/rules.ts";
import type { Policy } from "../../../../domain/policy/model.ts";
import { type Preview, type PreviewCase, previewPolicy } from "../../../../domain/policy/preview.ts";
import type { Org } from "../../../../domain/principal.ts";
import { groupBy } from "../../../../lib/group.ts";
import { present } from "../../../../lib/present.ts";
import { paced } from "../../../../lib/steps.ts";
import { allowListed } from "../../rules/allowlists/service.ts";
import type { Deps } from "../../../kernel/deps.ts";
import { getReadableEnvironments } from "../../environments/service.ts";
import { countKnownFlows, getKnownFlows } from "../../snapshots/report/facts-service.ts";
import { listPast, listRan, type PastFilter, type PastRow, type RanRow } from "./preview-store.ts";
import { requireControls } from "./service.ts";

/** What a policy is to be tried on. */
interface PreviewInput {
  policy: Policy;
  /** Names; null and undefined: all that live. */
  environments?: string[] | null | undefined;
  /** Unix seconds. */
  start_ts?: number | null | undefined;
  end_ts?: number | null | undefined;
}

/** What the policy would have made of the past of one environment. */
export type PreviewedEnvironment = Preview & Pick<PastRow, "name" | "type">;

function tooMuch(what: string): Error {
  return invalid(
    `A policy cannot be tried on more than ${what} at once: name fewer environments or a shorter time`,
  );
}

async function filterOf(
  deps: Pick<Deps, "clock">,
  db: Executor,
  org: Org,
  input: PreviewInput,
): Promise<PastFilter> {
  const to = input.end_ts ?? deps.clock.now();
  const from = input.start_ts ?? to;
  if (from > to) throw invalidInput({ start_ts: `Input should not be after end_ts [input: ${from}]` });
  const names = input.environments ?? undefined;
  if (names === undefined) return { ids: undefined, from, to };
  const found = await getReadableEnvironments(db, org, names);
  return { ids: found.map(({ id }) => id), from, to };
}

/** Reads what ran in the snapshots. @throws AppError invalid when it is too much. */
async function readRan(db: Executor, org: Org, past: readonly PastRow[]): Promise<RanRow[]> {
  const atLeastOne = "environments come with at least one snapshot";
  const spans = past.map(({ id, snapshots }) => ({
    environment_id: id,
    low: present(snapshots[0], atLeastOne).index,
    high: present(snapshots.at(-1), atLeastOne).index,
  }));
  const rows = await listRan(db, org.id, spans, previewLimits.artifacts + 1);
  if (rows.length > previewLimits.artifacts) throw tooMuch(`${previewLimits.artifacts} artifacts`);
  return rows;
}

/**
 * Checks that what ran can be judged at once, by the bounds of any environment: that takes time.
 * @param flows how many know each fingerprint.
 * @throws AppError invalid when it cannot.
 */
function requireBounded(policy: Policy, rows: readonly RanRow[], flows: ReadonlyMap<string, number>): void {
  const problem = judgingProblem(measureJudging([{ name: "", policy }], rows, flows));
  if (problem !== undefined)
    throw invalid(
      `A policy cannot be tried on what ran: ${problem}: name fewer environments or a shorter time`,
    );
}

/** An environment with all that a policy is tried on. */
type Tried = PreviewCase & Pick<PastRow, "name" | "type">;

/** Reads what ran, and what is known of it now. @throws AppError as `preview` does. */
async function readTried(deps: Pick<Deps, "clock">, tx: Tx, org: Org, input: PreviewInput): Promise<Tried[]> {
  const { policy } = input;
  await requireControls(tx, org, policy);
  const filter = await filterOf(deps, tx, org, input);
  const past = await listPast(tx, org.id, filter, previewLimits.snapshots + 1);
  const count = past.reduce((sum, { snapshots }) => sum + snapshots.length, 0);
  if (count > previewLimits.snapshots) throw tooMuch(`${previewLimits.snapshots} snapshots`);
  const rows = await readRan(tx, org, past);
  const known = new Set(rows.map(({ fingerprint }) => fingerprint));
  known.delete("");
  const fingerprints = [...known];
  requireBounded(policy, rows, await countKnownFlows(tx, org.id, fingerprints));
  const flows = await getKnownFlows(tx, org.id, fingerprints, wantedAttestations([policy]));
  const ran = groupBy(rows, ({ environment_id }) => environment_id);
  const allowed = await allowListed(
    tx,
    org.id,
    new Map(past.map(({ id }) => [id, (ran.get(id) ?? []).map(({ fingerprint }) => fingerprint)])),
  );
  return past.map(({ id, name, type, snapshots }) => ({
    name,
    type,
    snapshots,
    artifacts: ran.get(id) ?? [],
    flows,
    allowed: present(allowed.get(id), "every environment was asked for"),
  }));
}

/**
 * Tells what a policy would have made of what runs or ran, by what is known of it now. Stores nothing. Judging, which takes
 * longest, holds no connection.
 * @throws AppError not_found for an unknown environment, invalid for an unknown control or for too much at once.
 */
export async function preview(
  deps: Pick<Deps, "db" | "clock">,
  org: Org,
  input: PreviewInput,
): Promise<PreviewedEnvironment[]> {
  const tried = await transaction(deps.db, (tx) => readTried(deps, tx, org, input));
  const previews: PreviewedEnvironment[] = [];
  for (const { name, type, ...past } of tried)
    previews.push({ name, type, ...(await paced(previewPolicy(input.policy, past))) });
  return previews;
}
