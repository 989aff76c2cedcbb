import type { Executor } from "../../../db/connect.ts";
import { json, type RowOf } from "../../../db/row.ts";
import { param, query, raw } from "../../../db/sql.ts";
import type { ArtifactReport, AttestationReport } from "../../../domain/compliance/model.ts";
import type { Timestamp } from "../../../lib/clock.ts";
import { someArtifacts, someAttestations } from "../compliance/case-sql.ts";
import { flowIdNamed } from "../flows/flow-name-sql.ts";
import { knownRepos, type ReportedRepo } from "../repos/known-sql.ts";

/** A trail that reports name, as it was found: what decides on it, and of its flow what writing to it depends on. */
export interface FoundTrail {
  flow_id: string;
  /** Whether the name asked for is the flow's own, not a former one. */
  by_name: boolean;
  archived: boolean;
  /** Whether an action watches the flow. */
  watched: boolean;
  /** Of the trail; of the flow while there is no trail. */
  template: string;
  template_id: string;
  /** Null when there is none; so is all that follows. */
  trail_id: string | null;
  /** Differs after every write to the trail. */
  version: string | null;
  last_modified_at: Timestamp | null;
  evaluated_at: Timestamp | null;
  own_digest: string | null;
  /** At most one more than a few (`isComplete`). */
  artifacts: ArtifactReport[];
  attestations: AttestationReport[];
}

/** A repo that reports name, as it was found. */
export interface FoundRepo {
  id: string;
  /** Differs after every write to the repo. */
  row_version: string;
  /** Whether the report says something new. */
  changed: boolean;
}

/** Index of the one asked for. */
interface Placed {
  position: number;
}

const found = {
  trails: json<(FoundTrail & Placed)[]>(),
  repos: json<(FoundRepo & Placed)[]>(),
};

/** A trail by the names that a report gives. */
export interface AskedTrail {
  flow_name: string;
  name: string;
}

/**
 * Looks for the trails and repos that reports name, all as of one moment and without holding anything: one statement. Trails
 * whose flow does not exist are left out, and repos that do not.
 */
export function findReported(
  db: Executor,
  orgId: string,
  trails: readonly AskedTrail[],
  repos: readonly ReportedRepo[],
): Promise<RowOf<typeof found>> {
  const org = param(orgId);
  return db.one(query("find-reported", found)`
    select (
      select coalesce(json_agg(json_build_object('position', asked.position - 1, 'flow_id', f.id, 'by_name', f.name = asked.flow_name,
        'archived', f.archived_at is not null, 'watched', exists (
          select from action_flows w where w.org_id = ${org} and w.flow_id = f.id),
        'template', coalesce(t.template, f.template), 'template_id', coalesce(t.template_id, f.template_id),
        'trail_id', t.id, 'version', t.version, 'last_modified_at', epoch(t.last_modified_at),
        'evaluated_at', epoch(stored.evaluated_at), 'own_digest', stored.own_digest,
        'artifacts', ${someArtifacts(orgId)}, 'attestations', ${someAttestations(orgId)})), '[]')
      -- Not the parameters themselves: their length would count in the plan, which would be made each time.
      from unnest((select ${trails.map(({ flow_name }) => flow_name)}::text[]), (select ${trails.map(({ name }) => name)}::text[]))
        with ordinality as asked (flow_name, name, position)
      cross join lateral (
        select f.id, f.name, f.archived_at, f.template, f.template_id from flows f
        where f.org_id = ${org} and f.id = ${flowIdNamed(org, raw("asked.flow_name"))} limit 1) f
      left join lateral (
        -- The first of its name or behind it: in that order only the index of names has them, whatever else the planner takes for as
        -- good while it knows nothing of the table.
        select t.id, t.version, t.template, t.template_id, t.last_modified_at from (
          select t.id, t.name, t.xmin::text as version, t.template, t.template_id, t.last_modified_at from trails t
          where t.org_id = ${org} and t.flow_id = f.id and t.name >= asked.name order by t.name limit 1) t
        where t.name = asked.name) t on true
      left join lateral (
        select c.evaluated_at, c.own_digest from trail_compliance c
        where c.org_id = ${org} and c.trail_id = t.id limit 1) stored on true
    ) as trails, (
      select coalesce(json_agg(known), '[]') from (${knownRepos(orgId, repos)}) as known
    ) as repos`);
}
