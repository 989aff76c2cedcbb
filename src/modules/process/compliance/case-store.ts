import type { Executor } from "../../../db/connect.ts";
import { json, nullable, type RowOf, text, timestamp, uuid } from "../../../db/row.ts";
import { rowById } from "../../../db/row-by-id.ts";
import { empty, query, type Sql, sql } from "../../../db/sql.ts";
import type { ArtifactReport, AttestationReport } from "../../../domain/compliance/model.ts";
import { invalid } from "../../../domain/errors.ts";
import { readLines } from "../../../lib/json-lines.ts";
import { present } from "../../../lib/present.ts";
import { pacedIf, type Steps } from "../../../lib/steps.ts";
import {
  artifactLines,
  artifactObject,
  attestationLines,
  isComplete,
  mostDeciding,
  someArtifacts,
  someAttestations,
} from "./case-sql.ts";
import { commitPlace, placesOfAttestation } from "./places-sql.ts";

/** What was reported on a trail. */
interface Reports {
  artifacts: ArtifactReport[];
  attestations: AttestationReport[];
}

/** The same, as lines; null where they are more than may decide. */
const lines = { artifacts: nullable(text), attestations: nullable(text) };
type Lines = RowOf<typeof lines>;

/** Characters of reports from which on others come in between when they are read. */
const much = 256 * 1024;

const tooMuch = `Reports on one trail may be about ${mostDeciding} artifacts, each counted for every name of an attestation: begin another trail`;

/** Reads reports that were written as lines. @throws AppError of kind `invalid` when they are more than may decide on a trail. */
function* readReports<T>(written: string | null): Steps<T[]> {
  if (written === null) throw invalid(tooMuch);
  return yield* readLines<T>(written);
}

function* reportsOf<Row extends Lines>(rows: readonly Row[]): Steps<(Omit<Row, keyof Lines> & Reports)[]> {
  const read: (Omit<Row, keyof Lines> & Reports)[] = [];
  for (const { artifacts, attestations, ...row } of rows) {
    yield;
    read.push({
      ...row,
      artifacts: yield* readReports<ArtifactReport>(artifacts),
      attestations: yield* readReports<AttestationReport>(attestations),
    });
  }
  return read;
}

function lengthOf(texts: readonly (string | null)[]): number {
  return texts.reduce((sum, one) => sum + (one?.length ?? 0), 0);
}

/** Reads the reports of cases. Where there is much of them, other work of the process comes in between. */
async function withReports<Row extends Lines>(
  rows: readonly Row[],
): Promise<(Omit<Row, keyof Lines> & Reports)[]> {
  return pacedIf(
    lengthOf(rows.flatMap(({ artifacts, attestations }) => [artifacts, attestations])) > much,
    reportsOf(rows),
  );
}

const decidingCase = {
  trail_id: uuid,
  template: text,
  template_id: uuid,
  last_modified_at: timestamp,
  /** When the stored verdict was reached. Null when none is stored, or one from before this was. */
  evaluated_at: nullable(timestamp),
  name: text,
  flow_id: uuid,
  /** Digest of the stored verdict. Null when none is stored, or one from before this was. */
  own_digest: nullable(text),
  /** Name of the flow if an action watches it; else null. */
  watched_flow: nullable(text),
};

/** Everything that decides on a trail, what is stored of its verdict, and whether an action watches its flow. */
export type DecidingCase = RowOf<typeof decidingCase> & Reports;

// "offset 0" in these statements keeps the planner from reading all of the organization in order of id, which it takes for
// cheap while it knows little of the tables.

/** Columns of the trail `t`, and of its stored verdict `stored`, that judging it needs. */
function trailColumns(orgId: string): Sql {
  return sql`t.id as trail_id, t.name, t.flow_id, t.template, t.template_id, t.last_modified_at, stored.evaluated_at,
    stored.own_digest, case when exists (
      select from action_flows w where w.org_id = ${orgId} and w.flow_id = t.flow_id
    ) then (select f.name from flows f where f.org_id = ${orgId} and f.id = t.flow_id) end as watched_flow`;
}

/** Rows of the trails with these ids as `t`, each with its stored verdict as `stored`. */
function askedTrails(orgId: string, trailIds: readonly string[]): Sql {
  return sql`
    -- Not the parameter itself: its length would count in the plan, which would be made each time.
    from unnest((select ${trailIds}::uuid[])) as asked (id)
    ${rowById("trails", "t", sql`${orgId}`, "asked.id")}
    left join lateral (
      select c.evaluated_at, c.own_digest from trail_compliance c
      where c.org_id = ${orgId} and c.trail_id = t.id limit 1) stored on true`;
}

/** Lists trails with everything reported on them, or with one more than a few reports of each sort. */
function listBriefCases(db: Executor, orgId: string, trailIds: readonly string[]): Promise<DecidingCase[]> {
  const some = { artifacts: json<ArtifactReport[]>(), attestations: json<AttestationReport[]>() };
  return db.all(query("brief-cases", { ...decidingCase, ...some })`
    select ${trailColumns(orgId)}, ${someArtifacts(orgId)} as artifacts, ${someAttestations(orgId)} as attestations
    ${askedTrails(orgId, trailIds)}`);
}

/**
 * Lists what decides on trails, at a cost that does not grow with what was reported on them: one statement, and a second
 * one when there are trails with many reports. Nobody else must be writing to these trails.
 */
export async function listCases(
  db: Executor,
  orgId: string,
  trailIds: readonly string[],
): Promise<DecidingCase[]> {
  const brief = await listBriefCases(db, orgId, trailIds);
  const long = brief.filter((one) => !isComplete(one));
  if (long.length === 0) return brief;
  const ids = long.map(({ trail_id }) => trail_id);
  const cases = new Map((await listDecidingCases(db, orgId, ids)).map((one) => [one.trail_id, one] as const));
  return brief.map((one) => cases.get(one.trail_id) ?? one);
}

/** Ids of the first and the last artifact of each name on the trail `t`, found name by name in the index. */
function artifactEnds(orgId: string): Sql {
  const ofTrail = sql`a.org_id = ${orgId} and a.trail_id = t.id`;
  return sql`
    with recursive names as (
      (select a.template_reference_name as name from artifacts a where ${ofTrail}
        order by a.template_reference_name limit 1)
      union all
      select (select a.template_reference_name from artifacts a
        where ${ofTrail} and a.template_reference_name > n.name order by a.template_reference_name limit 1)
      from names n where n.name is not null)
    select n.name as template_reference_name, f.id as first_id, l.id as latest_id, l.fingerprint, l.git_commit,
      l.git_commit_info
    from names n
    cross join lateral (select a.id from artifacts a
      where ${ofTrail} and a.template_reference_name = n.name order by a.template_reference_name, a.id limit 1) f
    cross join lateral (select a.id, a.fingerprint, a.git_commit, a.git_commit_info from artifacts a
      where ${ofTrail} and a.template_reference_name = n.name
      order by a.template_reference_name desc, a.id desc limit 1) l`;
}

/** Heads that count on the trail `t`, with its artifacts as `ends`. */
function countingHeads(orgId: string): Sql {
  return sql`
    select h.* from attestation_heads h where h.org_id = ${orgId} and h.trail_id = t.id and h.kind in ('trail', 'name')
    union all
    select h.* from (select distinct fingerprint from ends) e
    join attestation_heads h on h.org_id = ${orgId} and h.trail_id = t.id and h.kind = 'fingerprint'
      and h.place = e.fingerprint
    union all
    select h.* from ends e
    join attestation_heads h on h.org_id = ${orgId} and h.trail_id = t.id and h.kind = 'commit'
      and h.place = ${commitPlace("e")}`;
}

/**
 * Lines of the attestations that decide on the trail `t`: what its `heads` name; and where an override had nothing of its type before it,
 * and another type's last report came after it, the one before it, which it may have overridden.
 * @param more heads, of which nobody asks what was overridden.
 */
function decidingAttestations(orgId: string, more: Sql = empty): Sql {
  return sql`
    ${attestationLines(sql`
    from (
    select unnest(array[first_id, latest_id, latest_plain_id]) as id from (select * from heads ${more}) named
    union select before.id from heads o
      -- What began after the override has nothing from before it.
      join heads h on h.name = o.name and h.first_id < o.latest_id and h.latest_plain_id > o.latest_id
      cross join lateral (
        select a.id from attestations a
        where a.org_id = ${orgId} and a.trail_id = t.id and a.name = h.name and a.type = h.type
          and a.id < o.latest_id and not a.is_override and exists (
            select from ${placesOfAttestation("a")} p where p.kind = h.kind and p.place = h.place)
        order by a.name desc, a.id desc limit 1) before
      where o.latest_plain_id is null) i
    join attestations a on a.org_id = ${orgId} and a.id = i.id`)}`;
}

/**
 * Reads trails without the reports that do not decide on them: a part of a statement that reads no more of a trail the more was
 * reported on it.
 * @param more heads of the trail `t`, with its artifacts as `ends`, whose reports are read besides: see `decidingAttestations`.
 */
function casesByHeads(orgId: string, trailIds: readonly string[], more: Sql = empty): Sql {
  return sql`
    select ${trailColumns(orgId)}, c.artifacts, c.attestations
    ${askedTrails(orgId, trailIds)}
    cross join lateral (
      with ends as materialized (${artifactEnds(orgId)}), heads as materialized (${countingHeads(orgId)})
      select (
        ${artifactLines(sql`
        from (select first_id as id from ends union select latest_id from ends) i
        join artifacts a on a.org_id = ${orgId} and a.id = i.id`)}
      ) as artifacts, (
        ${decidingAttestations(orgId, more)}
      ) as attestations
      offset 0) c`;
}

/** Lists trails without the reports that do not decide on them, in one statement. Nobody else must be writing to these trails. */
export async function listDecidingCases(
  db: Executor,
  orgId: string,
  trailIds: readonly string[],
): Promise<DecidingCase[]> {
  const columns = { ...decidingCase, ...lines };
  return withReports(await db.all(query("deciding-cases", columns)`${casesByHeads(orgId, trailIds)}`));
}

/** Heads of what waits, by commit, for the names that no artifact has on the trail `t`, with its artifacts as `ends`. */
function waitingHeads(orgId: string): Sql {
  // Commits stand behind an "@", which no name has, and "A" follows it.
  return sql`
    select h.* from (
      select distinct n.place as name from attestation_heads n
      where n.org_id = ${orgId} and n.trail_id = t.id and n.kind = 'name'
        and n.place not in (select template_reference_name from ends)) missing
    -- Looked up name by name, whatever the planner expects.
    cross join lateral (
      select * from attestation_heads where org_id = ${orgId} and trail_id = t.id and kind = 'commit'
        and place >= missing.name || '@' and place < missing.name || 'A' offset 0) h`;
}

/** Finds what decides on a trail, and what waits for its missing artifacts, in one statement. */
export async function findCaseByHeads(
  db: Executor,
  orgId: string,
  trailId: string,
): Promise<DecidingCase | undefined> {
  const waiting = sql`union all (${waitingHeads(orgId)})`;
  const columns = { ...decidingCase, ...lines };
  const rows = await db.all(query("explained-case", columns)`${casesByHeads(orgId, [trailId], waiting)}`);
  return (await withReports(rows))[0];
}

/**
 * Finds what explains the verdict on a trail, as of one moment: everything that was reported on it where that is little, else
 * `findCaseByHeads`. One statement, or two. It reads no more of what was reported again and again.
 */
export async function findExplainedCase(
  db: Executor,
  orgId: string,
  trailId: string,
): Promise<DecidingCase | undefined> {
  const [brief] = await listBriefCases(db, orgId, [trailId]);
  return brief === undefined || isComplete(brief) ? brief : findCaseByHeads(db, orgId, trailId);
}

const artifactCase = {
  digest: text,
  /** In the first row of each digest. */
  template: nullable(text),
  trail_id: uuid,
  template_id: uuid,
  /** Of the trail. */
  last_modified_at: timestamp,
  artifact: json<ArtifactReport>(),
  /** Lines of those on the artifact; null where they are more than may decide. */
  attestations: nullable(text),
  /** The same of those on the trail, in its first row; null in the others, too. */
  on_trail: nullable(text),
};

/** What decides on one report of an artifact, whether or not another artifact has taken its name since. */
export interface ArtifactCase extends Pick<
  DecidingCase,
  "attestations" | "template" | "template_id" | "last_modified_at"
> {
  artifact: ArtifactReport;
}

/** Lines of the attestations that decide, where `heads` count on the trail `t`. */
function decidingBy(orgId: string, heads: Sql): Sql {
  return sql`(
        with heads as materialized (${heads})
        select (${decidingAttestations(orgId)}) as attestations offset 0)`;
}

/** Heads that count on the trail `t` itself. */
function headsOfTrail(orgId: string): Sql {
  return sql`select h.* from attestation_heads h where h.org_id = ${orgId} and h.trail_id = t.id and h.kind = 'trail'`;
}

/** Heads that count for the artifact `a` on its trail `t`. */
function headsOfArtifact(orgId: string): Sql {
  const ofTrail = sql`h.org_id = ${orgId} and h.trail_id = t.id`;
  return sql`
    select h.* from attestation_heads h where ${ofTrail} and h.kind = 'fingerprint' and h.place = a.fingerprint
    union all
    select h.* from attestation_heads h where ${ofTrail} and h.kind = 'commit' and h.place = ${commitPlace("a")}`;
}

/** Puts to each artifact what it shares with others. */
function* artifactCases(rows: readonly RowOf<typeof artifactCase>[]): Steps<ArtifactCase[]> {
  const templates = new Map<string, string>();
  const onTrails = new Map<string, AttestationReport[]>();
  const cases: ArtifactCase[] = [];
  for (const { digest, template, trail_id, on_trail, attestations, ...row } of rows) {
    yield;
    if (template !== null) templates.set(digest, template);
    // The first row of a trail has what is on it.
    const ofTrail = onTrails.get(trail_id) ?? (yield* readReports<AttestationReport>(on_trail));
    onTrails.set(trail_id, ofTrail);
    const own = yield* readReports<AttestationReport>(attestations);
    cases.push({
      ...row,
      template: present(templates.get(digest), "the first row with a digest has its template"),
      // What is on the trail never counts in the place of what is on an artifact: the order between them says nothing.
      attestations: own.length === 0 ? ofTrail : ofTrail.concat(own),
    });
  }
  return cases;
}

/**
 * Lists what decides on artifacts, by their ids and in that order: one statement. A template they share is sent once, and so is what was
 * attested on a trail they share.
 */
export async function listArtifactCases(
  db: Executor,
  orgId: string,
  artifactIds: readonly string[],
): Promise<ArtifactCase[]> {
  const rows = await db.all(query("artifact-cases", artifactCase)`
    with cases as (
      select asked.position, t.id, md5(t.template) as digest, t.template, t.template_id, t.last_modified_at,
        ${artifactObject} as artifact, c.attestations, row_number() over (partition by t.id order by asked.position) as of_trail
      from unnest((select ${artifactIds}::uuid[])) with ordinality as asked (id, position)
      ${rowById("artifacts", "a", sql`${orgId}`, "asked.id")}
      ${rowById("trails", "t", sql`${orgId}`, "a.trail_id")}
      cross join lateral ${decidingBy(orgId, headsOfArtifact(orgId))} c)
    select t.digest, t.id as trail_id, t.template_id, t.last_modified_at, t.artifact, t.attestations,
      case when row_number() over (partition by t.digest order by t.position) = 1 then t.template end as template,
      case when t.of_trail = 1 then ${decidingBy(orgId, headsOfTrail(orgId))} end as on_trail
    from cases t order by t.position`);
  const length = lengthOf(rows.flatMap(({ attestations, on_trail }) => [attestations, on_trail]));
  return pacedIf(length > much, artifactCases(rows));
}
