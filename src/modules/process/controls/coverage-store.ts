import type { Executor } from "../../../db/connect.ts";
import { integer, json, type RowOf, text } from "../../../db/row.ts";
import { query } from "../../../db/sql.ts";
import type { EnvironmentType } from "../../../domain/environments.ts";
import type { PageSlice } from "../../../lib/paging.ts";

/** Lists the names of the policies whose latest version names a control. */
export async function listPoliciesReferencing(
  db: Executor,
  orgId: string,
  identifier: string,
): Promise<string[]> {
  const rows = await db.all(query({ name: text })`
    select p.name from policy_controls c join policies p on p.org_id = c.org_id and p.id = c.policy_id
    where c.org_id = ${orgId} and c.control_identifier = ${identifier}
    order by p.name`);
  return rows.map(({ name }) => name);
}

/** Which live environments to show, and which part of their list. */
export interface CoverageFilter extends PageSlice {
  /** Part of the name, in any case. */
  search: string | undefined;
  covered: boolean | undefined;
}

const coverage = {
  /** How many live environments there are. */
  total: integer,
  /** How many of them are covered. */
  covered: integer,
  /** How many match the filter. */
  matching: integer,
  /** Some of those, by name. */
  environments: json<{ name: string; type: EnvironmentType; covered: boolean; policies: string[] }[]>(),
};

/** Live environments, covered when a policy attached to them names a control. */
export type Coverage = RowOf<typeof coverage>;

/** Reads which live environments have a policy attached whose latest version names a control. */
export function getCoverage(
  db: Executor,
  orgId: string,
  identifier: string,
  { search, covered, limit, offset }: CoverageFilter,
): Promise<Coverage> {
  return db.one(query(coverage)`
    with covering as (
      select a.environment_id, array_agg(p.name order by p.name) as policies
      from policy_controls c
      join environment_policies a on a.org_id = c.org_id and a.policy_id = c.policy_id
      join policies p on p.org_id = c.org_id and p.id = c.policy_id
      where c.org_id = ${orgId} and c.control_identifier = ${identifier}
      group by a.environment_id
    ), live as (
      select e.name, e.type, c.policies is not null as covered, coalesce(c.policies, '{}') as policies
      from environments e left join covering c on c.environment_id = e.id
      where e.org_id = ${orgId} and not e.archived
    ), matching as (
      select * from live
      where (${search ?? null}::text is null or strpos(lower(name), lower(${search ?? null}::text)) > 0)
        and (${covered ?? null}::boolean is null or covered = ${covered ?? null}::boolean)
    )
    select (select count(*) from live) as total, (select count(*) from live where covered) as covered,
      (select count(*) from matching) as matching,
      (select coalesce(json_agg(page order by page.name), '[]') from (
        select * from matching order by name limit ${limit}::bigint offset ${offset}::bigint) as page) as environments`);
}
