// What pages show of many environments, beside what the demo makes: what runs in them, how their verdicts turned, silences,
// policies of many of them, and more tags than anybody chooses from. Loaded by SQL into the organization with 100,000.
import type { Database } from "../src/db/connect.ts";

/** Names of policies, and of an organization with as many tags as are offered. */
export const viewNames = {
  policyOfAll: "complete-trails",
  policyOfFew: "tested-and-reviewed",
  tags: "bench-tags",
} as const;

/**
 * Numbers the environments that reporters belong to, and what runs in those that the demo reported on, to be repeated. Each
 * has one or two snapshots within the last 60 days, whose verdicts differ.
 */
const places = [
  `create temp table places as
   select e.org_id, e.id, n, now() - make_interval(days => 1 + n % 60, secs => n * 7919 % 86400) as first_at,
     n % 5 <> 0 as first_verdict, 1 + n % 2 as snapshots
   from (
     select e.*, row_number() over (order by id)::integer as n from environments e
     where org_id = $1 and type <> 'logical' and not archived and last_reported_at is not null) e
   where not exists (select from environment_reports r where r.org_id = e.org_id and r.environment_id = e.id)`,
  `create temp table patterns as
   select a.*, d.doc as document, d.flows as known,
     row_number() over (order by a.environment_id, a.id)::integer - 1 as place, count(*) over ()::integer as many
   from snapshot_artifacts a
   join snapshot_documents d on d.org_id = a.org_id and d.environment_id = a.environment_id and d.id = a.id
   where a.org_id = $1 and a.last_index is null`,
  "analyze places, patterns",
];

/** What runs: three in each environment, under 5,000 names of each pattern. */
const running = [
  `create temp table runs as
   select l.org_id, l.id as environment_id, part as id, l.first_at, p.place,
     p.name || '-' || l.n % 5000 as name, case when p.fingerprint = '' then '' else
       encode(sha256(convert_to(p.fingerprint || l.n % 5000, 'UTF8')), 'hex') end as fingerprint,
     case when part > 1 then true else l.first_verdict <> (l.snapshots = 2) end as compliant
   from places l cross join generate_series(1, 3) part join patterns p on p.place = (l.n * 7 + part) % p.many`,
  `insert into snapshot_artifacts (org_id, environment_id, id, first_index, created_at, name, fingerprint, type, event_number,
     was, now, compliant, running, flow_ids, provenance, repo_ids, digest, facts, follows, decisions_digest)
   select r.org_id, r.environment_id, r.id, 1, r.first_at, r.name, r.fingerprint, p.type, r.id, 0, 1, r.compliant, p.running,
     p.flow_ids, p.provenance, p.repo_ids, p.digest, p.facts, p.follows, p.decisions_digest
   from runs r join patterns p on p.place = r.place order by r.environment_id, r.id`,
  `insert into snapshot_documents (org_id, environment_id, id, doc, flows)
   select r.org_id, r.environment_id, r.id, p.document, p.known
   from runs r join patterns p on p.place = r.place order by r.environment_id, r.id`,
  `insert into running_artifacts (org_id, environment_id, id, name_start, fingerprint, verdict, allow_listed, flow_ids, repo_id,
     started_at)
   select r.org_id, r.environment_id, r.id, lower(left(r.name, 200)), r.fingerprint, case when r.compliant then 1 else 0 end,
     false, p.flow_ids, p.repo_ids[1], r.first_at
   from runs r join patterns p on p.place = r.place`,
];

/** Snapshots: the verdict turns with each. */
const snapshots = [
  `insert into snapshots (org_id, environment_id, index, created_at, compliant, type, cause, event_count,
     artifact_compliance_count, applied_policies, artifacts, started_count, was_compliant, has_policies)
   select l.org_id, l.id, number, l.first_at + (now() - l.first_at) * (number - 1) / 2, l.first_verdict = (number = 1),
     e.type, 'report', 3, '{"true":2,"false":1,"null":0}', '[]', '{1,2,3}', case number when 1 then 3 else 0 end,
     case number when 2 then l.first_verdict end, true
   from places l cross join generate_series(1, 2) number join environments e on e.org_id = l.org_id and e.id = l.id
   where number <= l.snapshots`,
  `insert into environment_reports (org_id, environment_id, snapshot_count, artifact_count, latest_at, report_digest, seen_seq,
     judged_by)
   select org_id, id, snapshots, 3, first_at, '', 0, '' from places`,
  `insert into environment_silences (org_id, environment_id, began_at, noticed_at, ended_at)
   select org_id, id, now() - make_interval(days => 1 + n % 29), now() - make_interval(days => 1 + n % 29, hours => -1),
     now() - make_interval(days => 1 + n % 29, hours => -5)
   from places where n % 9 = 0`,
  `insert into environment_policies (org_id, environment_id, policy_id, id)
   select l.org_id, l.id, p.id, gen_random_uuid() from places l join policies p on p.org_id = l.org_id
     and (p.name = '${viewNames.policyOfAll}' or p.name = '${viewNames.policyOfFew}' and l.n % 90 = 0)`,
  // In one transaction each would look through all that the ones before have added up.
  "alter table environments disable trigger environments_tally",
  `update environments e set state = l.first_verdict <> (l.snapshots = 2), artifact_count = 3,
     failing_count = c.failing, unproven_count = c.unproven,
     policies = case when l.n % 90 = 0 then '["${viewNames.policyOfAll}","${viewNames.policyOfFew}"]' else '["${viewNames.policyOfAll}"]' end
   from places l join (
     select environment_id, count(*) filter (where verdict = 0) as failing, count(*) filter (where flow_ids = '{}') as unproven
     from running_artifacts where org_id = $1 group by environment_id) c on c.environment_id = l.id
   where e.org_id = l.org_id and e.id = l.id`,
  "alter table environments enable trigger environments_tally",
  "delete from environment_tallies where org_id = $1",
  `select add_to_tallies($1, array[sum(t[1]), sum(t[2]), sum(t[3]), sum(t[4]), sum(t[5]), sum(t[6]), sum(t[7]), sum(t[8]),
     sum(t[9])]::bigint[])
   from (select environment_sums(archived, state, type = 'logical', last_reported_at is not null, artifact_count,
     failing_count, unproven_count, allowed_count) as t from environments where org_id = $1) tallied`,
  "drop table places, patterns, runs",
];

/** Loads it. */
export async function loadViews(db: Database, org: string): Promise<void> {
  const { rows } = await db.pool.query<{ id: string }>("select id from organizations where name = $1", [org]);
  for (const table of [...places, ...running, ...snapshots])
    await db.pool.query(table, table.includes("$1") ? [rows[0]!.id] : []);
  await db.pool.query("analyze environments, running_artifacts, snapshots, environment_policies");
}

/** Loads 300 flows with 100 tags each: 200 keys, each with 150 values. */
export async function loadTags(db: Database): Promise<void> {
  await db.pool.query(
    `insert into flows (org_id, id, name, template, template_id, tags, created_at, created_by_name)
     select o.id, gen_random_uuid(), 'tagged-' || n, 'version: 1', gen_random_uuid(), (
       select jsonb_object_agg('key-' || (n + 2 * place) % 200, 'value-' || n) from generate_series(1, 100) place),
       now(), 'Ines Falk'
     from organizations o cross join generate_series(1, 300) n where o.name = $1`,
    [viewNames.tags],
  );
}
