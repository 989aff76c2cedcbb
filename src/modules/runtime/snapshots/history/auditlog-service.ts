import { Readable } from "node:stream";

import { attachmentDisposition } from "../../../../domain/evidence-file.ts";
import type { Org } from "../../../../domain/principal.ts";
import { describeChange } from "../../../../domain/snapshot/annotate.ts";
import { everything, resolveInterval } from "../../../../domain/snapshot/intervals.ts";
import type { Timestamp } from "../../../../lib/clock.ts";
import { csvLine } from "../../../../lib/csv.ts";
import type { Deps } from "../../../kernel/deps.ts";
import { findFlowIds } from "../../../process/flows/service.ts";
import { getNamedRepoIds } from "../../../process/repos/service.ts";
import { getReadableEnvironment } from "../../environments/service.ts";
import { countSnapshots } from "../read/store.ts";
import { eventRange } from "./event-service.ts";
import { type EventFilter, type EventRow, listMatches } from "./event-store.ts";

/** Conditions on the movements that are asked for. */
interface AuditlogQuestion {
  from_timestamp?: Timestamp | undefined;
  to_timestamp?: Timestamp | undefined;
  event_types?: EventFilter["kinds"];
  flow_names?: readonly string[] | undefined;
  repo_names?: readonly string[] | undefined;
}

/** A file on its way to whoever downloads it. */
interface CsvDownload {
  body: Readable;
  headers: Record<string, string>;
}

const headings = [
  "time",
  "environment",
  "snapshot",
  "event",
  "description",
  "artifact",
  "fingerprint",
  "artifact_compliance",
  "snapshot_compliance",
  "flows",
  "trails",
  "commits",
  "snapshot_url",
];

/** The name that asks for artifacts which no flow knows. No flow can have it. */
const noProvenance = "no provenance";

function verdict(compliant: boolean | null): string {
  if (compliant === null) return "unknown";
  return compliant ? "compliant" : "non-compliant";
}

/** Writes different values in one cell. Names and commits have no semicolons. */
function listed(values: readonly (string | null)[]): string {
  return [...new Set(values.filter((value) => value !== null))].join("; ");
}

function toLine(row: EventRow, place: { environment: string; page: string }): string {
  const { flows } = row;
  return csvLine([
    new Date(row.reported_at * 1000).toISOString(),
    place.environment,
    row.snapshot_index,
    row.type,
    describeChange(row),
    row.name,
    row.fingerprint,
    verdict(row.compliant),
    verdict(row.snapshot_compliant),
    listed(flows.map(({ flow_name }) => flow_name)),
    listed(flows.map(({ trail_name }) => trail_name)),
    listed(flows.map(({ git_commit }) => git_commit)),
    `${place.page}/${row.snapshot_index}`,
  ]);
}

/** Movements read at a time. */
const batchSize = 500;

async function flowsOf(
  deps: Pick<Deps, "db">,
  org: Org,
  names: readonly string[] | undefined,
): Promise<EventFilter["flows"]> {
  if (names === undefined) return undefined;
  const wanted = names.filter((name) => name !== noProvenance);
  const ids = await findFlowIds(deps.db, org.id, wanted);
  return { ids, none: wanted.length < names.length };
}

async function* linesOf(
  next: (after: EventRow | undefined) => Promise<EventRow[]>,
  first: EventRow[],
  place: { environment: string; page: string },
): AsyncGenerator<string> {
  yield csvLine(headings);
  let rows = first;
  while (rows.length > 0) {
    yield rows.map((row) => toLine(row, place)).join("");
    rows = rows.length < batchSize ? [] : await next(rows.at(-1));
  }
}

/**
 * Writes the movements of artifacts in an environment as CSV, the oldest first, made while it is sent (contract 2.10).
 * It ends with the snapshot that was the latest when it began.
 * @throws AppError not_found for an unknown environment or repo.
 */
export async function openAuditlog(
  deps: Pick<Deps, "db" | "links">,
  org: Org,
  environment: string,
  question: AuditlogQuestion,
): Promise<CsvDownload> {
  const { db } = deps;
  const { id, name } = await getReadableEnvironment(db, org, environment);
  const { from_timestamp, to_timestamp, event_types, flow_names, repo_names } = question;
  const all = resolveInterval(everything, await countSnapshots(db, org.id, id));
  const range = all && { ...all, from: from_timestamp ?? null, to: to_timestamp ?? null };
  const filter: EventFilter = {
    environment_id: id,
    ...(await eventRange(deps, org, id, range)),
    repo_ids: repo_names && (await getNamedRepoIds(deps, org.id, repo_names)),
    kinds: event_types,
    flows: await flowsOf(deps, org, flow_names),
  };
  const batch = { reverse: true, limit: batchSize, offset: 0 };
  const next = (row: EventRow | undefined): Promise<EventRow[]> =>
    listMatches(db, org.id, row === undefined ? filter : { ...filter, first: row.number + 1 }, batch);
  const page = deps.links.web(`/${org.name}/environments/${name}/snapshots`);
  const lines = linesOf(next, await next(undefined), { environment: name, page });
  return {
    body: Readable.from(lines, { objectMode: false }),
    headers: {
      "content-disposition": attachmentDisposition(`${name}-auditlog.csv`),
      "x-content-type-options": "nosniff",
    },
  };
}
