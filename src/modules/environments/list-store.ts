import type { Database, PreparedExecutor } from "../../db/connect.ts";
import { listInSlices } from "../../db/id-list.ts";
import {
  allStatements,
  type EnvironmentQuery,
  type Org,
  type PageOf,
  pageStatement,
} from "./list-statements.ts";

/** One page of environments as a JSON array, and how many there are on all pages. */
export interface EnvironmentPage {
  total: number;
  environments: string;
}

/** One page, in one statement. A page past the end is empty and still knows the total. */
export async function listEnvironmentPage(
  db: PreparedExecutor,
  org: Org,
  query: EnvironmentQuery,
  page: PageOf,
): Promise<EnvironmentPage> {
  const bound = pageStatement(org, query, page);
  const [row] = await db.prepared<{ total: number; environments: string }>(bound.statement, bound.values);
  if (row === undefined) throw new Error("The environment list answered no row");
  return row;
}

/** All that match, as texts of some of them each, with commas between these. */
export function listEnvironments(
  db: Database,
  org: Org,
  query: EnvironmentQuery,
): Promise<AsyncGenerator<string>> {
  return listInSlices(db, allStatements(org, query));
}
