import { sql } from "kysely";

import type { Database, Executor, PreparedExecutor } from "../../db/connect.ts";
import { listInSlices } from "../../db/id-list.ts";
import type { Bound } from "../../db/list-statement.ts";
import type { Timestamp } from "../../lib/clock.ts";
import type { FlowFilter, Org } from "./list-filters.ts";
import { allStatements, type FlowOrder, type PageOf, pageStatement } from "./list-statements.ts";

/** A flow as it is shown, but for the organization's name. */
export interface ShownFlowRow {
  id: string;
  name: string;
  description: string;
  visibility: "public" | "private";
  template: string;
  repo_url: string;
  tags: Record<string, string>;
  space_id: string | null;
  created_at: Timestamp;
  created_by: string;
}

/** What was said about the repo of `f`, else that of its latest artifact. */
const repoUrl = sql`coalesce(f.repo_url, (
    select coalesce(nullif(a.repo_url, ''), (
      select r.url from repos r where r.org_id = a.org_id and r.id = a.repo_id))
    from artifacts a
    where a.org_id = f.org_id and a.flow_id = f.id order by a.id desc limit 1
  ), '')`;

const shown = sql`wire_id(f.id) as id, f.name, f.description, f.visibility, f.template, f.tags,
  wire_id(f.space_id) as space_id, f.created_at, f.created_by_name as created_by, ${repoUrl} as repo_url`;

/** The flow with this id, which must exist. */
export async function getShownFlow(db: Executor, orgId: string, id: string): Promise<ShownFlowRow> {
  const { rows } = await sql<ShownFlowRow>`
    select ${shown} from flows f where f.org_id = ${orgId} and f.id = ${id}`.execute(db);
  return rows[0]!;
}

/** Flows as JSON text. */
export interface FlowPage {
  /** An array. */
  flows: string;
  /** How many there are in all. */
  total: number;
}

/** Texts of flows with commas between them, one part after the other. */
interface FlowsRow {
  flows: string | null;
  rest?: string | null;
}

function arrayOf({ flows, rest }: FlowsRow): string {
  return flows && rest ? `[${flows},${rest}]` : `[${flows ?? rest ?? ""}]`;
}

async function onlyRow<Row extends FlowsRow>(
  db: PreparedExecutor,
  { statement, values }: Bound,
): Promise<Row> {
  const [row] = await db.prepared<Row & Record<string, unknown>>(statement, values);
  if (row === undefined) throw new Error("The list of flows answered no row");
  return row;
}

/** One page of the flows that are not archived and match every filter. One statement. */
export async function listFlowPage(
  db: PreparedExecutor,
  org: Org,
  filter: FlowFilter,
  page: FlowOrder & PageOf,
): Promise<FlowPage> {
  const row = await onlyRow<FlowsRow & { total: number }>(db, pageStatement(org, filter, page));
  return { flows: arrayOf(row), total: row.total };
}

/** All flows that are not archived and match every filter, as texts of some of them each, with commas between these. */
export function listFlows(
  db: Database,
  org: Org,
  filter: FlowFilter,
  order: FlowOrder,
): Promise<AsyncGenerator<string>> {
  return listInSlices(db, allStatements(org, filter, order));
}
