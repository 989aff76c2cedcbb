import type { PreparedExecutor } from "../../db/connect.ts";
import { memberByLine } from "../../db/member-by-line.ts";
import { readWeighed } from "../../db/weighed-page.ts";
import {
  attestationObject,
  itsEvidence,
  meantBy,
  type ReadScope,
  type UrlBases,
} from "./attestation-json.ts";

/** Which attestations: all of a trail, one, or those of an artifact of a flow. */
export type AttestationScope =
  | { kind: "trail"; trail_id: string }
  | { kind: "attestation"; attestation_id: string }
  | { kind: "artifact"; flow_id: string; fingerprint: string };

/** An attestation as packages have it. */
export interface PackagedAttestation {
  wire_id: string;
  name: string;
  /** Text of its object in the public interface. */
  json: string;
  /** The file that came with it. */
  file: { id: string; sha256: string; size: number; filename: string; content_type: string } | null;
}

const self = `case when a.artifact_fingerprint is null then '/trail/' || t.name
  else '/artifact/' || a.artifact_fingerprint end || '/' || a.name`;

function listing(kind: AttestationScope["kind"], where: string) {
  return {
    name: `packaged-attestations-of-${kind}`,
    table: "attestations",
    where,
    order: "name",
    large: ["type_data", "user_data", "git_commit_info", "annotations", "external_urls"],
    columns: `wire_id(a.id) as wire_id, a.name, ${memberByLine(attestationObject(self))} as json,
      case when file.id is not null then json_build_object('id', file.id, 'sha256', file.sha256, 'size', file.size,
        'filename', file.filename, 'content_type', file.content_type) end as file`,
    joins: `
      join trails t on t.org_id = a.org_id and t.id = a.trail_id
      join flows f on f.org_id = a.org_id and f.id = a.flow_id ${itsEvidence}
      left join evidence file on file.org_id = a.org_id and file.id = a.evidence_id`,
  };
}

const listings = {
  trail: listing("trail", "a.trail_id = $5"),
  attestation: listing("attestation", "a.id = $5"),
  artifact: listing(
    "artifact",
    `a.id in (
      select a.id from attestations a
      where a.org_id = $1 and a.artifact_fingerprint = $6 and a.flow_id = $5
      union
      select a.id from artifacts r join attestations a on ${meantBy}
      where r.org_id = $1 and r.fingerprint = $6 and r.flow_id = $5 and a.artifact_fingerprint is null)`,
  ),
};

function valuesOf(scope: AttestationScope): string[] {
  if (scope.kind === "trail") return [scope.trail_id];
  return scope.kind === "attestation" ? [scope.attestation_id] : [scope.flow_id, scope.fingerprint];
}

/** Pages of attestations by name, those of a name oldest first. */
export function listPackagedAttestations(
  db: PreparedExecutor,
  org: ReadScope,
  urls: UrlBases,
  scope: AttestationScope,
): AsyncGenerator<PackagedAttestation[]> {
  const values = [org.id, org.name, urls.api, urls.web, ...valuesOf(scope)];
  return readWeighed<PackagedAttestation>(db, listings[scope.kind], values);
}
