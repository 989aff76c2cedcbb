import { constant, type Sql, sql } from "../../../../db/sql.ts";

/** Entries of the audit log, and what they lead to, up to which following them costs less than looking at all that runs. */
const few = { entries: 100, trails: 250, artifacts: 500 };

/**
 * Types of resource in the audit log that flows know nothing of. Entries of other types are followed below, or else
 * taken to matter.
 */
const unrelated = [
  "action",
  "allowlist",
  "api_key",
  "environment",
  "member",
  "notification_delivery",
  "policy",
  "quality_delivery",
  "service_account",
  "snapshot",
  "user",
];

/** Writes SQL for the trails that the entry `n` is about; none for one that is about anything else. */
function trailsOf(orgId: string): Sql {
  return sql`
    select a.trail_id from (
      select trail_id from artifacts
      where org_id = ${orgId}::uuid and n.resource_type = 'artifact' and fingerprint = n.resource collate "C" offset 0) a
    union all
    select trail_id from attestations
    where org_id = ${orgId}::uuid and id = case
      when n.resource_type = 'attestation' and n.resource ~ '^[0-9a-f-]{32}$' then (n.resource || '0000')::uuid end
    union all
    select t.id from flows f
    cross join lateral (
      select id from trails
      where org_id = ${orgId}::uuid and flow_id = f.id
        and name = substr(n.resource, strpos(n.resource, '/') + 1) collate "C" limit 1) t
    where f.org_id = ${orgId}::uuid and n.resource_type = 'trail'
      and f.name = split_part(n.resource, '/', 1) collate "C"`;
}

/**
 * Writes SQL for whether flows may know something else of what runs in the environment `e` since its last report. Who
 * changes what flows know appends to the audit log in the same transaction, and its numbers are in the order of commits:
 * what has happened since are the entries after `r.seen_seq`. They are followed to the trails they are about, whose
 * verdicts they have written again, and on to the artifacts there. Where entries after it were removed, nobody knows any more what
 * they were about, and all that runs is looked at.
 */
export function hasNews(orgId: string): Sql {
  return sql`(
    with entries as materialized (
      select l.seq, l.resource_type, l.resource from audit_log l
      where l.org_id = ${orgId}::uuid and l.seq > r.seen_seq order by l.seq limit ${constant(few.entries + 1)}
    ), touched as materialized (
      select t.trail_id from entries n left join lateral (${trailsOf(orgId)}) t on true
      where n.resource_type <> all (${unrelated}::text[]) limit ${constant(few.trails + 1)}
    ), named as materialized (
      select a.fingerprint from (select distinct trail_id from touched) t
      cross join lateral (
        select fingerprint from artifacts where org_id = ${orgId}::uuid and trail_id = t.trail_id offset 0) a
      limit ${constant(few.artifacts + 1)}
    )
    select (select count(*) > ${constant(few.entries)} from entries)
      -- Numbers are given without gaps: where some are missing, months of the log were removed.
      or (select coalesce(max(seq) - r.seen_seq > count(*), false) from entries)
      or (select coalesce(bool_or(trail_id is null), false) or count(*) > ${constant(few.trails)} from touched)
      or (select count(*) > ${constant(few.artifacts)} from named)
      or exists (
        -- All that runs here, once: other environments may run the same, and it may have run here often.
        select from (
          select fingerprint from running_artifacts
          where org_id = ${orgId}::uuid and environment_id = e.id offset 0) running
        where running.fingerprint in (select fingerprint collate "C" from named)))`;
}
