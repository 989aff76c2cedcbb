import type { EnvironmentEvent } from "../../../../contract/environment-events.ts";
import type { Org } from "../../../../domain/principal.ts";
import { describeChange } from "../../../../domain/snapshot/annotate.ts";
import {
  chooseWindow,
  type NumberRange,
  pageOfRange,
  type RangePage,
  resolveInterval,
  type SnapshotRange,
  type WindowQuery,
} from "../../../../domain/snapshot/intervals.ts";
import { artifactPage } from "../../../../domain/pages.ts";
import { pageSlice } from "../../../../lib/paging.ts";
import type { Deps } from "../../../kernel/deps.ts";
import { getNamedRepoIds } from "../../../process/repos/service.ts";
import { getReadableEnvironment } from "../../environments/service.ts";
import { countSnapshots, findIndexAt } from "../read/store.ts";
import {
  countMatches,
  type EventFilter,
  type EventRow,
  findEventRange,
  findIndexFrom,
  listEvents,
  listMatches,
} from "./event-store.ts";

const nothing: NumberRange = { first: 1, last: 0 };

/** Finds the numbers of the events of the snapshots in a range. The order of snapshots is that of their times. */
export async function eventRange(
  deps: Pick<Deps, "db">,
  org: Org,
  environmentId: string,
  range: SnapshotRange | undefined,
): Promise<NumberRange> {
  if (range === undefined) return nothing;
  const { from, to } = range;
  const { db } = deps;
  const lowest = from === null ? range.first : await findIndexFrom(db, org.id, environmentId, from);
  if (lowest === undefined) return nothing;
  const highest = to === null ? range.last : await findIndexAt(db, org.id, environmentId, to);
  const indexes = { first: Math.max(lowest, range.first), last: Math.min(highest, range.last) };
  return indexes.first > indexes.last ? nothing : findEventRange(db, org.id, environmentId, indexes);
}

/** Shows an event of the environment of this name. */
export function showEvent(
  deps: Pick<Deps, "links">,
  org: Org,
  environment: string,
  row: EventRow,
): EnvironmentEvent {
  const { snapshot_index, fingerprint, flows, type } = row;
  const [first] = flows;
  const { api, web } = deps.links;
  const artifact = first && {
    self: api(`/artifacts/${org.name}/${first.flow_name}/fingerprint/${fingerprint}`),
    html: web(`/${org.name}${artifactPage(first, fingerprint)}`),
  };
  const snapshot = {
    self: api(`/snapshots/${org.name}/${environment}/${snapshot_index}`),
    html: web(`/${org.name}/environments/${environment}/snapshots/${snapshot_index}`),
  };
  return {
    environment_name: environment,
    snapshot_index,
    artifact_name: row.name,
    sha256: fingerprint,
    description: describeChange(row),
    reported_at: row.reported_at,
    pipeline: first?.flow_name ?? "",
    deployments: [],
    flows: flows.map(({ flow_name }) => ({ flow_name, deployments: null })),
    artifact_compliance: row.compliant,
    snapshot_compliance: row.snapshot_compliant ?? false,
    type,
    code_diff: type === "exited" ? null : (first?.deployment_diff?.diff_url ?? null),
    _links: { ...(artifact && { artifact }), snapshot },
  };
}

/** A query of an environment's log. */
interface EventQuestion extends WindowQuery, RangePage {
  repo_name?: readonly string[] | undefined;
}

interface EventPage {
  total: number;
  rows: EventRow[];
}

/** Reads a page of all events: again a range of numbers. */
async function readAll(
  deps: Pick<Deps, "db">,
  org: Org,
  { environment_id, first, last }: EventFilter,
  page: RangePage,
): Promise<EventPage> {
  const total = last - first + 1;
  const numbers = pageOfRange({ first, last }, page);
  if (numbers.first > numbers.last) return { total, rows: [] };
  const rows = await listEvents(deps.db, org.id, environment_id, numbers);
  return { total, rows: page.reverse ? rows : rows.toReversed() };
}

/** Reads a page of the events that match, which have to be counted. */
async function readMatches(
  deps: Pick<Deps, "db">,
  org: Org,
  filter: EventFilter,
  { reverse, ...page }: RangePage,
): Promise<EventPage> {
  const { db } = deps;
  const total = await countMatches(db, org.id, filter);
  const slice = pageSlice(page);
  if (slice.offset >= total) return { total, rows: [] };
  return { total, rows: await listMatches(db, org.id, filter, { reverse, ...slice }) };
}

/**
 * Reads a page of an environment's log with the number of events in all of it, the newest first unless reversed
 * (contract 6). A logical environment has a log of its own.
 * @throws AppError not_found for an unknown environment or repo, invalid for what is no interval.
 */
export async function readEvents(
  deps: Pick<Deps, "db" | "clock" | "links">,
  org: Org,
  environment: string,
  question: EventQuestion,
): Promise<{ total: number; events: EnvironmentEvent[] }> {
  const { db } = deps;
  const { id, name } = await getReadableEnvironment(db, org, environment);
  const interval = chooseWindow(question, deps.clock.now());
  const { repo_name } = question;
  const repo_ids = repo_name && (await getNamedRepoIds(deps, org.id, repo_name));
  const range = resolveInterval(interval, await countSnapshots(db, org.id, id));
  const filter = { environment_id: id, ...(await eventRange(deps, org, id, range)), repo_ids };
  const read = repo_ids === undefined ? readAll : readMatches;
  const { total, rows } = await read(deps, org, filter, question);
  return { total, events: rows.map((row) => showEvent(deps, org, name, row)) };
}
