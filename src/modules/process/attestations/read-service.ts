import { type AppError, invalid, invalidInput } from "../../../domain/errors.ts";
import {
  compilePattern,
  matchingProblem,
  PatternError,
  namesMatching,
} from "../../../domain/policy/expression/regex.ts";
import { parseWireId } from "../../../lib/ids.ts";
import { paced } from "../../../lib/steps.ts";
import { type HeavyRows, type PageText, readHeavy } from "../../../db/heavy-page.ts";
import type { Org } from "../../../domain/principal.ts";
import type { Deps } from "../../kernel/deps.ts";
import type { Showing } from "./attestation-sql.ts";
import { findTrailAttestation } from "./read-store.ts";
import { listAttestationNames, listAttestationsById, type SelfPath } from "./search-store.ts";

/** How attestations of an organization are shown. */
export interface HowShown {
  org: Org;
  how: Showing;
  self: SelfPath;
}

/** Reads attestations of which all in all are heavy, some at a time: their JSON texts. */
export function readHeavyAttestations(
  { db }: Pick<Deps, "db">,
  { org, how, self }: HowShown,
  rows: HeavyRows,
): AsyncGenerator<{ text: string }[]> {
  return readHeavy(db, rows, (ids) => listAttestationsById(db, org, how, { ids, self }));
}

async function* asLists(batches: AsyncIterable<readonly { text: string }[]>): AsyncGenerator<string> {
  for await (const rows of batches) yield `[${rows.map(({ text }) => text).join(",")}]`;
}

/** Gives the text of a list, or those of its parts. */
export function listOf(
  deps: Pick<Deps, "db">,
  shown: HowShown,
  page: PageText,
): string | AsyncIterable<string> {
  return page.list ?? asLists(readHeavyAttestations(deps, shown, page.heavy));
}

/** Finds an attestation by the id in its URL; undefined for what is no id, and where the trail has none of this id. */
export async function findAttestationOnTrail(
  deps: Pick<Deps, "db">,
  orgId: string,
  at: { flow_name: string; trail_name: string; attestation_id: string },
): Promise<{ id: string; name: string; evidence_id: string | null } | undefined> {
  const id = parseWireId(at.attestation_id);
  if (id === undefined) return undefined;
  const found = await findTrailAttestation(deps.db, orgId, {
    flow: at.flow_name,
    trail: at.trail_name,
    attestation_id: id,
  });
  return found && { id, ...found };
}

/** Names that are tried against a pattern at most. */
const maxNames = 20_000;

/**
 * Finds the names in use that a pattern is found in; undefined when it is found in all of them. Patterns are matched here and
 * not in the database: in time linear in the name, whatever the pattern, with others in between.
 * @throws AppError invalid for what is no pattern, and when there are too many names to try it on.
 */
export async function findNamesMatching(
  deps: Pick<Deps, "db">,
  orgId: string,
  pattern: string,
): Promise<string[] | undefined> {
  const regex = patternOf(pattern);
  const names = await listAttestationNames(deps.db, orgId, maxNames + 1);
  if (names.length > maxNames)
    throw invalid(
      `Attestations have more than ${maxNames} names here: search by 'name' instead of 'name_regex'`,
    );
  const problem = matchingProblem(regex, names);
  if (problem !== undefined) throw unusable(pattern, problem);
  const found = await paced(namesMatching(regex, names));
  return found.length === names.length ? undefined : found;
}

function unusable(pattern: string, problem: string): AppError {
  return invalidInput({ "query.name_regex": `${problem} [input: ${pattern}]` });
}

function patternOf(text: string) {
  try {
    return compilePattern(text);
  } catch (error) {
    if (error instanceof PatternError) throw unusable(text, error.message);
    throw error;
  }
}
