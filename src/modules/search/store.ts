import type { PreparedExecutor, PreparedStatement } from "../../db/connect.ts";
import type { KeptVerdict } from "../../domain/compliance/model.ts";
import type { FlowFact } from "../../domain/snapshot/provenance.ts";
import type { Timestamp } from "../../lib/clock.ts";

/** SQL for the distinct values of an indexed column between $2 and $3: one step in the index for each, however many rows. */
function distinct(column: string, table: string): string {
  const next = `select ${column} from ${table} where org_id = $1::uuid and ${column} < $3::text`;
  return `with recursive found (value) as (
      (${next} and ${column} >= $2::text order by ${column} limit 1)
      union all
      select (${next} and ${column} > found.value order by ${column} limit 1) from found where found.value is not null
    ) select value from found where value is not null limit $4::bigint`;
}

const matchesStatement: PreparedStatement = {
  name: "search-matches",
  text: `select
    array(${distinct("fingerprint", "artifacts")}) as built,
    array(${distinct("fingerprint", "snapshot_artifacts")}) as ran,
    array(${distinct("git_commit", "artifacts")}) as commits`,
};

/** What begins with a text. */
export interface Matches {
  /** Fingerprints of artifacts that were reported. */
  built: string[];
  /** Fingerprints of artifacts that ran. */
  ran: string[];
  commits: string[];
}

/** What begins with these lower-case digits, at most `limit` of each kind, in order. */
export async function findMatches(
  db: PreparedExecutor,
  orgId: string,
  digits: string,
  limit: number,
): Promise<Matches> {
  // Every digit comes before the letter g.
  const [row] = await db.prepared<Matches>(matchesStatement, [orgId, digits, `${digits}g`, limit]);
  return row!;
}

/** The latest report of an artifact in one flow. */
export type FoundRow = Pick<
  FlowFact,
  "fingerprint" | "artifact_id" | "flow_name" | "trail_name" | "template_reference_name"
> &
  KeptVerdict & {
    filename: string;
    git_commit: string | null;
    /** When the commit was made, if the report said. */
    committed_at: Timestamp | null;
    commit_url: string;
    build_url: string;
    /** Of the first report there. */
    created_at: Timestamp;
  };

// Named one by one: what is free JSON cannot be compared, and "union" compares every column.
const foundColumns = `a.id, a.flow_id, a.trail_id, a.fingerprint, a.filename, a.template_reference_name, a.git_commit,
          (a.git_commit_info ->> 'timestamp')::float8 as committed_at, a.commit_url, a.build_url`;

const artifactsStatement: PreparedStatement = {
  name: "search-artifacts",
  text: `select known.fingerprint, known.id as artifact_id, known.filename, known.template_reference_name,
      known.git_commit, known.committed_at, known.commit_url, known.build_url, known.first_at as created_at,
      f.name as flow_name, t.name as trail_name, c.own_state as trail_state,
      c.status -> 'artifacts_statuses' -> known.template_reference_name as artifact_row
    from (
      select latest.* from unnest($2::text[]) as asked (fingerprint)
      cross join lateral (
        select distinct on (a.flow_id) ${foundColumns},
          min(a.created_at) over (partition by a.flow_id) as first_at
        from (select * from artifacts where org_id = $1::uuid and fingerprint = asked.fingerprint offset 0) a
        order by a.flow_id, a.id desc
      ) as latest
      union
      select of_commit.* from unnest($3::text[]) as asked (git_commit)
      cross join lateral (
        select distinct on (a.flow_id, a.fingerprint) ${foundColumns},
          min(a.created_at) over (partition by a.flow_id, a.fingerprint) as first_at
        from (select * from artifacts where org_id = $1::uuid and git_commit = asked.git_commit
          order by id desc limit 10000) a
        order by a.flow_id, a.fingerprint, a.id desc
      ) as of_commit
      order by id desc limit $4::bigint
    ) as known
    cross join lateral (select name from flows where org_id = $1::uuid and id = known.flow_id limit 1) f
    cross join lateral (select name from trails where org_id = $1::uuid and id = known.trail_id limit 1) t
    left join lateral (
      select status, own_state from trail_compliance where org_id = $1::uuid and trail_id = known.trail_id limit 1) c on true
    order by known.first_at, known.id`,
};

/** Artifacts with these fingerprints or built from these commits, by flow: the newest reports, the artifacts known longest first. */
export function listFound(
  db: PreparedExecutor,
  orgId: string,
  { fingerprints, commits }: { fingerprints: readonly string[]; commits: readonly string[] },
  limit: number,
): Promise<FoundRow[]> {
  return db.prepared<FoundRow>(artifactsStatement, [orgId, fingerprints, commits, limit]);
}

/** A start or an exit of an artifact. */
export interface StayRow {
  fingerprint: string;
  /** As the environment's report called the artifact. */
  name: string;
  environment_name: string;
  snapshot_index: number;
  has_exited: boolean;
  timestamp: Timestamp;
  /** Whether it runs there now. */
  is_running: boolean;
}

const staysStatement: PreparedStatement = {
  name: "search-stays",
  text: `select found.* from (
      select s.fingerprint, s.name, e.name as environment_name, s.first_index as snapshot_index,
        s.type = 'exited' as has_exited, s.created_at as timestamp, exists (
          select from snapshot_artifacts now where now.org_id = $1::uuid and now.fingerprint = s.fingerprint
            and now.last_index is null and now.environment_id = s.environment_id) as is_running
      from unnest($2::text[]) as asked (fingerprint)
      cross join lateral (
        select * from snapshot_artifacts s where s.org_id = $1::uuid and s.fingerprint = asked.fingerprint
          and (s.type like 'started%' or s.type = 'exited')
        order by s.created_at desc limit $3::bigint) s
      join environments e on e.org_id = $1::uuid and e.id = s.environment_id
      order by s.created_at desc limit $3::bigint
    ) as found order by timestamp, snapshot_index, environment_name`,
};

/** The newest starts and exits of artifacts, oldest first. */
export function listStays(
  db: PreparedExecutor,
  orgId: string,
  fingerprints: readonly string[],
  limit: number,
): Promise<StayRow[]> {
  return db.prepared<StayRow>(staysStatement, [orgId, fingerprints, limit]);
}
