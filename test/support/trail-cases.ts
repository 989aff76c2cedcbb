import type { Executor } from "../../src/db/connect.ts";
import { json, nullable, text, timestamp, uuid } from "../../src/db/row.ts";
import { query, sql } from "../../src/db/sql.ts";
import type { ArtifactReport, AttestationReport } from "../../src/domain/compliance/model.ts";
import { artifactObject, attestationObject, listOf } from "../../src/modules/process/compliance/case-sql.ts";
import type { JudgeableTrail } from "../../src/modules/process/compliance/service.ts";
import { knownTemplates } from "../../src/modules/process/flows/known-templates.ts";

const everything = {
  trail_id: uuid,
  template: text,
  template_id: uuid,
  last_modified_at: timestamp,
  evaluated_at: nullable(timestamp),
  artifacts: json<ArtifactReport[]>(),
  attestations: json<AttestationReport[]>(),
};

/** Reads everything that was reported on trails, by their ids: what is made of what decides has to come out the same. */
export async function readTrailCases(
  db: Executor,
  orgId: string,
  trailIds: Iterable<string>,
): Promise<Map<string, JudgeableTrail>> {
  const onTrail = sql`a.org_id = ${orgId} and a.trail_id = t.id`;
  const rows = await db.all(query(everything)`
    select t.id as trail_id, t.template, t.template_id, t.last_modified_at, c.evaluated_at,
      (select ${listOf(artifactObject)} from artifacts a where ${onTrail}) as artifacts,
      (select ${listOf(attestationObject)} from attestations a where ${onTrail}) as attestations
    from trails t left join trail_compliance c on c.org_id = ${orgId} and c.trail_id = t.id
    where t.org_id = ${orgId} and t.id = any(${[...new Set(trailIds)]}::uuid[])`);
  const templateOf = await knownTemplates(
    orgId,
    rows.map(({ template }) => template),
  );
  return new Map(
    rows.map(({ trail_id, template, template_id, last_modified_at, evaluated_at, ...reports }) => [
      trail_id,
      {
        trail_id,
        template: templateOf(template),
        template_id,
        reports,
        evaluated_at: evaluated_at ?? last_modified_at,
      },
    ]),
  );
}
