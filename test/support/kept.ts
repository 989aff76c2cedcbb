import { expect } from "vitest";

import type { TestApp, TestOrg } from "./app.ts";

/** What is kept of an organization, and the same counted one by one: each a statement that tells rows in order. */
const counts: Record<string, [kept: string, counted: string]> = {
  tags: [
    `select kind, key, is_long, value, sum(uses)::int as uses from tag_tallies where org_id = $1
     group by 1, 2, 3, 4 having sum(uses) <> 0 order by 1, 2, 3, 4`,
    `select kind, key collate "C" as key, value is null as is_long, coalesce(value, '') collate "C" as value, count(*)::int as uses from (
       select 'environment' as kind, t.key, choosable(t.value) as value
       from environments cross join jsonb_each_text(tags) t where org_id = $1 and archived_at is null
       union all select 'flow', t.key, choosable(t.value)
       from flows cross join jsonb_each_text(tags) t where org_id = $1 and archived_at is null
       union all select 'control', t.key, choosable(t.value)
       from controls cross join jsonb_each_text(tags) t where org_id = $1 and not archived) tagged
     group by 1, 2, 3, 4 order by 1, 2, 3, 4`,
  ],
  turns: [
    `select hour, place, sum(counts[place])::int as turns, sum(offsets[place])::text as microseconds
     from verdict_turns cross join generate_series(1, 9) place where org_id = $1
     group by 1, 2 having sum(counts[place]) <> 0 order by 1, 2`,
    `select date_trunc('hour', s.created_at, 'UTC') as hour, 1 + 3 * was.code + became.code as place, count(*)::int as turns,
       sum(extract(microseconds from s.created_at - date_trunc('hour', s.created_at, 'UTC'))
         + extract(minute from s.created_at at time zone 'UTC') * 60000000)::bigint::text as microseconds
     from snapshots s join environments e on e.org_id = s.org_id and e.id = s.environment_id and not e.archived
     cross join lateral (select case s.was_compliant when true then 1 when false then 2 else 0 end as code) was
     cross join lateral (select case s.compliant when true then 1 when false then 2 else 0 end as code) became
     where s.org_id = $1 and s.compliant is distinct from s.was_compliant group by 1, 2 order by 1, 2`,
  ],
  beginnings: [
    "select environment_id as id, began_at from environment_beginnings where org_id = $1 order by 1",
    "select id, created_at as began_at from environments where org_id = $1 and not archived order by 1",
  ],
  trails: [
    "select flow_id, sum(trails)::int as trails from trail_tallies where org_id = $1 group by 1 order by 1",
    "select flow_id, count(*)::int as trails from trails where org_id = $1 group by 1 order by 1",
  ],
};

/** Requires that what is kept in step with each write is what counting everything gives. */
export async function expectKept(app: TestApp, org: TestOrg): Promise<void> {
  for (const [what, [kept, counted]] of Object.entries(counts)) {
    const [told, found] = await Promise.all(
      [kept, counted].map(async (text) => (await app.deps.db.pool.query(text, [org.id])).rows),
    );
    expect([what, told]).toEqual([what, found]);
  }
}
