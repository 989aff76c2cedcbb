import { memberByLine } from "../../../db/member-by-line.ts";
import { json, nullable, text } from "../../../db/row.ts";
import { type Parameter, param, query, type Sql, sql } from "../../../db/sql.ts";
import type { Executor } from "../../../db/connect.ts";
import { readWeighed } from "../../../db/weighed-page.ts";
import type { Org } from "../../../domain/principal.ts";
import { largeColumns as largeArtifactColumns } from "../../process/artifacts/columns-sql.ts";
import {
  attestationObject,
  itsEvidence,
  largeColumns as largeAttestationColumns,
  meantBy,
  readParameters,
  type Showing,
} from "../../process/attestations/attestation-sql.ts";
import { saidOfNames } from "../../process/compliance/verdict-sql.ts";

/** Which reports of artifacts: all of a trail, or those of one artifact of a flow. */
export type ArtifactScope =
  | { kind: "trail"; trail_id: string }
  | { kind: "artifact"; flow_id: string; fingerprint: string };

/** Which attestations: those of a trail or of an artifact, or one. */
export type AttestationScope = ArtifactScope | { kind: "attestation"; attestation_id: string };

/** The parameters that all of these statements share. */
type Shared = ReturnType<typeof readParameters>;

/** Columns of a report of an artifact, as packages have it. */
const packagedArtifact = {
  wire_id: text,
  template_reference_name: text,
  /** What was reported, and the verdict that rests on it. */
  json: text,
};

/**
 * Writes the artifact object of the public interface, as far as it is a record: nothing that changes without a report. The
 * verdict is that of its trail, unless another artifact has taken its name there.
 */
const artifactObject = ({ org_name, web }: Shared): Sql => sql`json_build_object(
  'artifact_id', wire_id(a.id),
  'fingerprint', a.fingerprint,
  'filename', a.filename,
  'flow_name', f.name,
  'trail_name', t.name,
  'template_reference_name', a.template_reference_name,
  'description', a.description,
  'git_commit', a.git_commit,
  'git_commit_info', a.git_commit_info,
  'commits_list', a.commits_list,
  'repo_url', a.repo_url,
  'commit_url', a.commit_url,
  'build_url', a.build_url,
  'external_urls', a.external_urls,
  'annotations', a.annotations,
  'user_data', a.user_data,
  'created_at', epoch(a.created_at),
  'reported_by', a.created_by_name,
  'html_url', ${web}::text || '/' || ${org_name}::text || '/flows/' || f.name || '/artifacts/' || a.fingerprint
    || '?artifact_id=' || wire_id(a.id),
  'compliance_status', case when c.said ->> 'artifact_fingerprint' = a.fingerprint then c.said end)`;

/** Reads reports of artifacts in pages, by template name, those of a name oldest first. */
export function listPackagedArtifacts(db: Executor, org: Org, how: Showing, scope: ArtifactScope) {
  const shared = readParameters(org, how);
  return readWeighed(db, shared.org_id, {
    name: `packaged-artifacts-of-${scope.kind}`,
    table: "artifacts",
    where:
      scope.kind === "trail"
        ? sql`a.trail_id = ${scope.trail_id}`
        : sql`a.flow_id = ${scope.flow_id} and a.fingerprint = ${scope.fingerprint}`,
    order: "template_reference_name",
    large: [...largeArtifactColumns, "commits_list"],
    columns: packagedArtifact,
    shown: sql`wire_id(a.id) as wire_id, a.template_reference_name, ${memberByLine(artifactObject(shared))} as json`,
    joins: sql`
      join trails t on t.org_id = ${shared.org_id} and t.id = a.trail_id
      join flows f on f.org_id = ${shared.org_id} and f.id = a.flow_id
      left join verdicts c on c.trail_id = a.trail_id and c.name = a.template_reference_name`,
    once: {
      name: "verdicts",
      rows: saidOfNames(
        sql`${shared.org_id}`,
        sql`select a.trail_id, a.template_reference_name from light
          join artifacts a on a.org_id = ${shared.org_id} and a.id = light.id`,
      ),
    },
  });
}

/** Finds the fingerprint that begins like this of the artifact a flow reported last; undefined when there is none. */
export async function findFingerprint(
  db: Executor,
  orgId: string,
  at: { flow_id: string; fingerprint: string },
): Promise<string | undefined> {
  const beginning = param(at.fingerprint);
  const row = await db.first(query("newest-artifact-of-flow", { fingerprint: text })`
    select fingerprint from artifacts
    where org_id = ${orgId} and flow_id = ${at.flow_id}
      and fingerprint >= ${beginning} and fingerprint < ${beginning}::text || 'g'
    order by id desc limit 1`);
  return row?.fingerprint;
}

/** Columns of an attestation, as packages have it. */
const packagedAttestation = {
  wire_id: text,
  name: text,
  /** Its object in the public interface. */
  json: text,
  /** The file that came with it. */
  file: nullable(
    json<{ id: string; sha256: string; size: number; filename: string; content_type: string }>(),
  ),
};

/** Path that packages give for reading the attestation `a` by its name. */
const selfPath = sql`case when a.artifact_fingerprint is null then '/trail/' || t.name
  else '/artifact/' || a.artifact_fingerprint end || '/' || a.name`;

/** Condition on attestations `a` for being bound to an artifact of a flow, or made for one of its reports there. */
function isOfArtifact(org: Parameter, scope: { flow_id: string; fingerprint: string }): Sql {
  const [flow, fingerprint] = [param(scope.flow_id), param(scope.fingerprint)];
  return sql`a.id in (
      select a.id from attestations a
      where a.org_id = ${org} and a.artifact_fingerprint = ${fingerprint} and a.flow_id = ${flow}
      union
      select a.id from artifacts r join attestations a on ${meantBy(org)}
      where r.org_id = ${org} and r.fingerprint = ${fingerprint} and r.flow_id = ${flow}
        and a.artifact_fingerprint is null)`;
}

function inScope(org: Parameter, scope: AttestationScope): Sql {
  if (scope.kind === "trail") return sql`a.trail_id = ${scope.trail_id}`;
  return scope.kind === "attestation" ? sql`a.id = ${scope.attestation_id}` : isOfArtifact(org, scope);
}

/** Reads attestations in pages, by name, those of a name oldest first. */
export function listPackagedAttestations(db: Executor, org: Org, how: Showing, scope: AttestationScope) {
  const shared = readParameters(org, how);
  return readWeighed(db, shared.org_id, {
    name: `packaged-attestations-of-${scope.kind}`,
    table: "attestations",
    where: inScope(shared.org_id, scope),
    order: "name",
    large: largeAttestationColumns,
    columns: packagedAttestation,
    shown: sql`wire_id(a.id) as wire_id, a.name, ${memberByLine(attestationObject(selfPath, shared))} as json,
      case when file.id is not null then json_build_object('id', file.id, 'sha256', file.sha256, 'size', file.size,
        'filename', file.filename, 'content_type', file.content_type) end as file`,
    joins: sql`
      join trails t on t.org_id = ${shared.org_id} and t.id = a.trail_id
      join flows f on f.org_id = ${shared.org_id} and f.id = a.flow_id ${itsEvidence(shared.org_id)}
      left join evidence file on file.org_id = ${shared.org_id} and file.id = a.evidence_id`,
  });
}
