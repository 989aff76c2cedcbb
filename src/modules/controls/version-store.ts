import { sql } from "kysely";

import type { Executor } from "../../db/connect.ts";
import type { ControlStatus } from "../../domain/controls.ts";
import type { ListPage } from "./list-store.ts";
import type { ControlRow } from "./store.ts";

/** An entry of a control's history as it is shown. */
export interface ControlVersionRow extends Omit<ControlRow, "tags"> {
  status: ControlStatus;
}

const shownVersions = sql`
  select c.identifier, v.name, v.description, v.version, v.archived, v.status, v.created_by_name as created_by,
    v.created_at, v.links
  from controls c join control_versions v on v.org_id = c.org_id and v.control_id = c.id`;

/**
 * Some entries of the history of a control, by number. The numbers on the page are known beforehand, because there are
 * no gaps.
 * @param page `total` is the control's latest version.
 */
export async function listControlVersions(
  db: Executor,
  orgId: string,
  identifier: string,
  page: ListPage & { total: number },
): Promise<ControlVersionRow[]> {
  const { offset, limit, total } = page;
  const [above, upTo] =
    page.sort_direction === "asc" ? [offset, offset + limit] : [total - offset - limit, total - offset];
  const { rows } = await sql<ControlVersionRow>`
    ${shownVersions}
    where c.org_id = ${orgId} and c.identifier = ${identifier}
      and v.version > ${above}::bigint and v.version <= ${upTo}::bigint
    order by v.version ${sql.raw(page.sort_direction)}`.execute(db);
  return rows;
}

/** One entry of the history of a control. */
export async function findControlVersion(
  db: Executor,
  orgId: string,
  identifier: string,
  version: number,
): Promise<ControlVersionRow | undefined> {
  const { rows } = await sql<ControlVersionRow>`
    ${shownVersions}
    where c.org_id = ${orgId} and c.identifier = ${identifier} and v.version = ${version}`.execute(db);
  return rows[0];
}
