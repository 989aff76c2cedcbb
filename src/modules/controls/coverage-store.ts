import { sql } from "kysely";

import type { Executor } from "../../db/connect.ts";
import type { EnvironmentType } from "../../domain/environments.ts";

/** Names of the policies whose latest version names a control. */
export async function listPoliciesReferencing(
  db: Executor,
  orgId: string,
  identifier: string,
): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select p.name from policy_controls c join policies p on p.org_id = c.org_id and p.id = c.policy_id
    where c.org_id = ${orgId} and c.control_identifier = ${identifier}
    order by p.name`.execute(db);
  return rows.map(({ name }) => name);
}

/** Which environments, and which of them. */
export interface CoverageFilter {
  /** Part of the name, in any case. */
  search: string | undefined;
  covered: boolean | undefined;
  limit: number;
  offset: number;
}

/** Live environments by what they ask for. */
export interface Coverage {
  total: number;
  covered: number;
  /** How many match the filter. */
  matching: number;
  /** Some of those, by name. */
  environments: { name: string; type: EnvironmentType; covered: boolean; policies: string[] }[];
}

/** Which live environments have a policy attached whose latest version names a control. */
export async function getCoverage(
  db: Executor,
  orgId: string,
  identifier: string,
  { search, covered, limit, offset }: CoverageFilter,
): Promise<Coverage> {
  const { rows } = await sql<Coverage>`
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
        select * from matching order by name limit ${limit}::bigint offset ${offset}::bigint) as page) as environments`.execute(
    db,
  );
  return rows[0]!;
}
