import type { CsvRows } from "../../../../contract/csv.ts";
import type { EnvironmentEvent } from "../../../../contract/environment-events.ts";
import { paginationOf } from "../../../../contract/pagination.ts";
import type { Org } from "../../../../domain/principal.ts";
import type { EventKind } from "../../../../domain/snapshot/annotate.ts";
import { eventWindow } from "../../../../domain/snapshot/event-window.ts";
import { parseTagFilter } from "../../../../domain/tags.ts";
import { inBatches } from "../../../../lib/batches.ts";
import { type PageNumbers, pageSlice } from "../../../../lib/paging.ts";
import type { Deps } from "../../../kernel/deps.ts";
import { findFlowIds } from "../../../process/flows/service.ts";
import { findNamedRepoIds } from "../../../process/repos/service.ts";
import { findReadableIds } from "../../environments/service.ts";
import {
  type AllEventsFilter,
  countAllEvents,
  type EventSlice,
  listAllEvents,
  type PlacedEventRow,
} from "./all-events-store.ts";
import { showEvent } from "./event-service.ts";

type Using = Pick<Deps, "db" | "clock" | "links">;

/** Which events of all environments. Names that nothing has find nothing. */
interface AllEventsQuery {
  start_ts?: number | undefined;
  end_ts?: number | undefined;
  environment?: readonly string[] | undefined;
  tag?: readonly string[] | undefined;
  type?: readonly string[] | undefined;
  flow?: readonly string[] | undefined;
  repo?: readonly string[] | undefined;
  kind?: readonly EventKind[] | undefined;
}

/**
 * Finds what the names of a query mean: a statement for each kind of them.
 * @throws AppError invalid for a window that is too long or ends before it starts.
 */
async function filterOf({ db, clock }: Using, org: Org, query: AllEventsQuery): Promise<AllEventsFilter> {
  const { environment, tag, type, flow, repo, kind } = query;
  const window = eventWindow(query, clock.now());
  const [environment_ids, flow_ids, repo_ids] = await Promise.all([
    environment && findReadableIds(db, org.id, environment),
    flow && findFlowIds(db, org.id, flow),
    repo && findNamedRepoIds(db, org.id, repo),
  ]);
  const tags = tag && parseTagFilter(tag);
  return { ...window, environment_ids, types: type, tags, flow_ids, repo_ids, kinds: kind };
}

/**
 * Reads a page of the events of all environments, newest first, and counts those of the whole window.
 * @throws AppError invalid for a window that is too long or ends before it starts.
 */
export async function readAllEvents(deps: Using, org: Org, query: AllEventsQuery & PageNumbers) {
  const filter = await filterOf(deps, org, query);
  const { by_environment, ...by_kind } = await countAllEvents(deps.db, org.id, filter);
  const kinds = [...new Set(filter.kinds ?? (Object.keys(by_kind) as EventKind[]))];
  const total = kinds.reduce((sum, kind) => sum + by_kind[kind], 0);
  const slice = pageSlice(query);
  const rows = slice.offset < total ? await listAllEvents(deps.db, org.id, filter, slice) : [];
  return {
    data: rows.map((row) => showEvent(deps, org, row.environment_name, row)),
    pagination: paginationOf(query, total),
    counts: { by_kind, by_environment },
  };
}

/** Events that are read at a time for CSV. */
const batch = 200;

/** Finds where the events go on after these, which followed on others. */
function placeAfter(rows: readonly PlacedEventRow[], before: EventSlice["after"]): EventSlice["after"] {
  const last = rows.at(-1);
  if (last === undefined) return before;
  const isOfLast = (row: Pick<PlacedEventRow, "environment_id" | "snapshot_index">) =>
    row.environment_id === last.environment_id && row.snapshot_index === last.snapshot_index;
  const told = rows.filter(isOfLast).length;
  return { ...last, told: told + (before !== undefined && isOfLast(before) ? before.told : 0) };
}

/**
 * Reads all events of the window, newest first, some at a time.
 * @throws AppError invalid for a window that is too long or ends before it starts.
 */
export async function listEventsForCsv(deps: Using, org: Org, query: AllEventsQuery): Promise<CsvRows> {
  const filter = await filterOf(deps, org, query);
  let after: EventSlice["after"];
  return inBatches<EnvironmentEvent>(batch, async () => {
    const slice: EventSlice = { limit: batch, offset: 0, ...(after && { after }) };
    const rows = await deps.db.sliced(() => listAllEvents(deps.db, org.id, filter, slice));
    after = placeAfter(rows, after);
    return rows.map((row) => showEvent(deps, org, row.environment_name, row));
  });
}
