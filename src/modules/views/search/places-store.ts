import type { Executor } from "../../../db/connect.ts";
import { nullable, oneOf, type RowOf, text, uuid } from "../../../db/row.ts";
import { constant, param, query, raw, type Sql, sql } from "../../../db/sql.ts";
import { hasValue } from "../../../db/value-number.ts";
import { type NameMatch, type SearchKind, searchKinds } from "../../../domain/search-names.ts";

/** What was found, as it is shown. What does not belong to its kind is null. */
const place = {
  kind: oneOf(searchKinds),
  /** The part of it that matches. */
  matched: text,
  name: text,
  /** In words of its kind, of which the first are shown. */
  context: text,
  /** Of a control. */
  identifier: nullable(text),
  flow_name: nullable(text),
  trail_name: nullable(text),
  fingerprint: nullable(text),
  /** Of the report of an artifact, or of an attestation. */
  report_id: nullable(uuid),
};
export type PlaceRow = RowOf<typeof place>;

/** Newest builds of a flow among which one of a name is looked for. */
const mostBuilds = constant(200);

/** Selects what has this id in a table `x`. Of other kinds nothing is read. */
function withId(
  org: Sql,
  kind: SearchKind,
  table: string,
  { name, context }: { name: Sql; context: Sql },
): Sql {
  return sql`select ${name} as name, ${context} as context, null::text as flow_name, null::text as trail_name,
      null::text as fingerprint, null::uuid as report_id
    from ${raw(table)} x where asked.kind = ${raw(`'${kind}'`)} and x.org_id = ${org} and x.id = asked.ref`;
}

/** What both ways to an artifact answer of the report `a` in the flow `f`, on the trail `t`. */
const artifactColumns = sql`a.filename, f.name, f.name, t.name, a.fingerprint, a.id`;

/** Selects the newest build of a name without tag in a flow, of the whole name if that was asked for. */
function artifactByName(org: Sql, wholeName: Sql): Sql {
  return sql`select ${artifactColumns} from flows f
    cross join lateral (
      select a.* from (
        select id, trail_id, filename, fingerprint from artifacts
        where org_id = ${org} and flow_id = asked.ref order by id desc limit ${mostBuilds}) a
      where starts_with(a.filename, asked.name) and substr(a.filename, length(asked.name) + 1, 1) in ('', ':', '@')
      order by lower(a.filename collate "C") = ${wholeName} desc, a.id desc limit 1) a
    join trails t on t.org_id = ${org} and t.id = a.trail_id
    where asked.kind = 'artifact' and asked.ref is not null and f.org_id = ${org} and f.id = asked.ref
    union all
    -- It was not built for long.
    select asked.name, f.name, f.name, null, null, null from flows f
    where asked.kind = 'artifact' and f.org_id = ${org} and f.id = asked.ref and not exists (
      select from (
        select filename from artifacts where org_id = ${org} and flow_id = asked.ref order by id desc limit ${mostBuilds}) a
      where starts_with(a.filename, asked.name) and substr(a.filename, length(asked.name) + 1, 1) in ('', ':', '@'))`;
}

/** Selects the newest report of a fingerprint; of one that only ran the name it ran under. */
function artifactByFingerprint(org: Sql): Sql {
  return sql`select ${artifactColumns} from (
      select id, flow_id, trail_id, filename, fingerprint from artifacts
      where asked.kind = 'artifact' and asked.ref is null and org_id = ${org} and fingerprint = asked.name
      order by fingerprint desc, id desc limit 1) a
    join flows f on f.org_id = ${org} and f.id = a.flow_id
    join trails t on t.org_id = ${org} and t.id = a.trail_id
    union all
    select * from (
      select s.name, '', null, null, s.fingerprint, null::uuid from snapshot_artifacts s
      where asked.kind = 'artifact' and asked.ref is null and s.org_id = ${org} and ${hasValue(org, "s", "fingerprint", sql`asked.name`)}
        and not exists (select from artifacts a where a.org_id = ${org} and a.fingerprint = asked.name)
      order by value_number(s.org_id, s.fingerprint) desc, s.created_at desc limit 1) s`;
}

/** Selects a commit, with the flow that built it last, or else attested to it. */
function commit(org: Sql): Sql {
  return sql`select asked.name, coalesce((
      select f.name from artifacts a join flows f on f.org_id = ${org} and f.id = a.flow_id
      where a.org_id = ${org} and a.git_commit = asked.name order by a.git_commit desc, a.id desc limit 1), (
      select f.name from attestations a join flows f on f.org_id = ${org} and f.id = a.flow_id
      where a.org_id = ${org} and a.git_commit = asked.name order by a.git_commit desc, a.created_at desc limit 1), ''),
    null, null, null, null where asked.kind = 'commit'`;
}

/** Selects the attestation that names a pull request or a ticket. */
function mention(org: Sql): Sql {
  return sql`select asked.name, f.name || '/' || t.name, f.name, t.name, null, a.id from attestations a
    join flows f on f.org_id = ${org} and f.id = a.flow_id
    join trails t on t.org_id = ${org} and t.id = a.trail_id
    where asked.kind in ('pull_request', 'ticket') and a.org_id = ${org} and a.id = asked.ref`;
}

/**
 * Reads what matches are shown by, in their order, in one statement: a few look-ups for each, and for an artifact by name up
 * to 200 of its flow's builds. What is gone meanwhile is left out.
 * @param wholeName of artifacts, with the tag that was asked for, if any.
 */
export function listPlaces(
  db: Executor,
  orgId: string,
  matches: readonly NameMatch[],
  wholeName: string,
): Promise<PlaceRow[]> {
  const org = sql`${param(orgId)}::uuid`;
  const whole = sql`lower(${wholeName}::text collate "C")`;
  const name = sql`x.name`;
  return db.all(query("search-places", place)`
    select asked.kind, asked.name as matched, found.name, left(found.context, 200) as context,
      case asked.kind when 'control' then found.context end as identifier, found.flow_name, found.trail_name,
      found.fingerprint, found.report_id
    from unnest(${matches.map(({ kind }) => kind)}::text[], ${matches.map(({ ref }) => ref)}::uuid[],
      ${matches.map((match) => match.name)}::text[]) with ordinality as asked (kind, ref, name, position)
    cross join lateral (
      ${withId(org, "environment", "environments", { name, context: sql`x.type` })}
      union all ${withId(org, "flow", "flows", { name, context: sql`x.description` })}
      union all ${withId(org, "repo", "repos", { name, context: sql`x.url` })}
      union all ${withId(org, "policy", "policies", { name, context: sql`x.description` })}
      union all ${withId(org, "control", "controls", { name, context: sql`x.identifier` })}
      union all ${withId(org, "attestation_type", "attestation_types", { name, context: sql`''` })}
      union all
      select t.name, f.name, f.name, t.name, null, null from trails t
      join flows f on f.org_id = ${org} and f.id = t.flow_id
      where asked.kind = 'trail' and t.org_id = ${org} and t.id = asked.ref
      union all ${artifactByName(org, whole)}
      union all ${artifactByFingerprint(org)}
      union all ${commit(org)}
      union all ${mention(org)}) found
    order by asked.position`);
}
