import type { Database, Executor } from "../../../db/connect.ts";
import { mostBytes } from "../../../db/heavy-page.ts";
import {
  boolean,
  integer,
  json,
  nullable,
  oneOf,
  type RowOf,
  text,
  timestamp,
  uuid,
} from "../../../db/row.ts";
import { constant, join, param, query, raw, type Sql, sql } from "../../../db/sql.ts";
import { environmentTypes } from "../../../domain/environments.ts";
import { annotationTypes } from "../../../domain/snapshot/annotate.ts";
import { trustedMember } from "../../../domain/snapshot/documents.ts";
import { documentOfVersion, flowsOfVersion, placesOfVersion } from "../../runtime/snapshots/document-sql.ts";

/** What a version's first flow knew of it. */
interface FirstFlow {
  artifact_id: string;
  trail_name: string;
  template_reference_name: string;
  git_commit: string | null;
  commit_url: string | null;
}

const artifactRow = {
  environment_id: uuid,
  id: integer,
  environment_name: text,
  environment_type: oneOf(environmentTypes),
  /** Of the environment's latest snapshot, or of the one asked for. */
  snapshot_index: integer,
  name: text,
  fingerprint: text,
  compliant: nullable(boolean),
  allow_listed: boolean,
  reasons: json<{ policy_name: string; rule: string; message: string }[]>(),
  flow: nullable(json<FirstFlow>()),
  /** Present names. */
  flow_name: nullable(text),
  repo_name: nullable(text),
  started_at: timestamp,
  type: oneOf(annotationTypes),
  was: integer,
  now: integer,
  /** Among those that were asked for, from 1. */
  position: integer,
};

/** A version of an artifact in an environment, as lists show it. */
export type ArtifactRow = RowOf<typeof artifactRow>;

/** A version of an artifact. */
export interface VersionKey {
  environment_id: string;
  id: number;
}

/** Cuts what stands between two texts out of a version's document. Neither occurs in a name: quotes in names are escaped. */
function between(before: string, after: string): Sql {
  return sql`split_part(split_part(document.text, ${before}::text, 2), ${after}::text, 1)`;
}

/** Writes the reasons in a version's document, a list of objects; before the fingerprint only trust comes after them. */
const reasons = sql`split_part(${between('"reasons_for_incompliance":', ',"fingerprint":"')}, ',"allow_listed":', 1)::json`;

/**
 * Selects from the rows `chosen`: versions by their keys, with the `position` of each and the `index` to be shown. As many as are not too
 * much at once, the first in any case: a commit may say any number of bytes.
 */
function selectRows(orgId: string, chosen: Sql): Sql {
  const org = param(orgId);
  return sql`
    select ${join(
      Object.keys(artifactRow).map((column) => raw(column)),
      ", ",
    )} from (
    select *, sum(coalesce(octet_length(flow::text), 0) + octet_length(reasons::text)) over (order by position) as bytes from (
    select a.environment_id, a.id, e.name as environment_name, e.type as environment_type, chosen.index as snapshot_index,
      a.name, a.fingerprint, a.compliant, position(${trustedMember}::text in document.text) > 0 as allow_listed, ${reasons} as reasons,
      known.flow, f.name as flow_name, r.name as repo_name, first_start(${placesOfVersion(org)}, a.created_at) as started_at,
      case when a.first_index = chosen.index then a.type else 'unchanged' end as type,
      case when a.first_index = chosen.index then a.was else a.now end as was, a.now, chosen.position
    from (${chosen}) chosen
    cross join lateral (
      select * from snapshot_artifacts
      where org_id = ${org}::uuid and environment_id = chosen.environment_id and id = chosen.id limit 1) a
    cross join lateral (select ${documentOfVersion(org)} as text) document
    cross join lateral (select ${flowsOfVersion(org)} -> 0 as flow) known
    cross join lateral (
      select name, type from environments where org_id = ${org}::uuid and id = chosen.environment_id limit 1) e
    left join lateral (
      select name from flows where org_id = ${org}::uuid and id = (known.flow ->> 'flow_id')::uuid limit 1) f on true
    left join lateral (
      select name from repos where org_id = ${org}::uuid and id = a.repo_ids[1] limit 1) r on true
    offset 0) version) shown
    where position = 1 or bytes <= ${constant(mostBytes)}
    order by position`;
}

/**
 * Reads all of what was asked for.
 * @param read reads the first ones of some, by keys.
 * @param first the first rows, where they have been read.
 */
export async function* wholeRows<Key>(
  db: Pick<Database, "sliced">,
  keys: readonly Key[],
  read: (keys: readonly Key[]) => Promise<ArtifactRow[]>,
  first?: readonly ArtifactRow[],
): AsyncGenerator<readonly ArtifactRow[]> {
  for (let [rows, left] = [first ?? (await db.sliced(() => read(keys))), keys]; ;) {
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows;
    left = left.slice(last.position);
    if (left.length === 0) return;
    // All that are asked for are weighed: not much more than fit.
    const asked = left.slice(0, 2 * last.position);
    rows = await db.sliced(() => read(asked));
  }
}

/** Reads what runs now, by its keys and in their order: each row by its key. */
export function listRunningRows(
  db: Executor,
  orgId: string,
  keys: readonly VersionKey[],
): Promise<ArtifactRow[]> {
  const environments = keys.map(({ environment_id }) => environment_id);
  const ids = keys.map(({ id }) => id);
  const chosen = sql`
    select key.environment_id, key.id, key.position, s.snapshot_count as index
    from unnest((select ${environments}::uuid[]), (select ${ids}::bigint[])) with ordinality as key (environment_id, id, position)
    cross join lateral (
      select snapshot_count from environment_reports
      where org_id = ${orgId}::uuid and environment_id = key.environment_id limit 1) s`;
  return db.all(query("running-rows", artifactRow)`${selectRows(orgId, chosen)}`);
}

/** Reads what a snapshot shows, by ids and in their order: each row by its key. */
export function listShownRows(
  db: Executor,
  orgId: string,
  { environment_id, index }: { environment_id: string; index: number },
  ids: readonly number[],
): Promise<ArtifactRow[]> {
  const chosen = sql`
    select ${environment_id}::uuid as environment_id, key.id, key.position, ${index}::integer as index
    from unnest((select ${ids}::bigint[])) with ordinality as key (id, position)`;
  return db.all(query("shown-rows", artifactRow)`${selectRows(orgId, chosen)}`);
}
