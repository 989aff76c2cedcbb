import { z } from "zod";

import { gitCommitPattern } from "../domain/names.ts";
import { anyUser, organizationReader } from "./access.ts";
import { AttestationResponse, attestationIncludes } from "./attestation.ts";
import { json, LinksBody } from "./common.ts";
import { time, withCsv } from "./csv.ts";
import { endpoint, type Endpoints } from "./endpoint.ts";
import { PaginationInfo } from "./pagination.ts";
import {
  booleanParameter,
  integerParameter,
  listParameter,
  pageParameter,
  textParameter,
  timestampParameter,
} from "./parameters.ts";

/** A page of attestations. `_links.next` is present while there are more. */
const AttestationsCursorResponse = z
  .object({ data: AttestationResponse, _links: LinksBody })
  .meta({ id: "AttestationsCursorResponse" });

/** A numbered page of attestations. */
const AttestationsPaginatedResponse = z
  .object({ data: AttestationResponse, pagination: PaginationInfo })
  .meta({ id: "AttestationsPaginatedResponse" });

/** Attestations by the commit they were made for. */
const AttestationsListForCommitsResponse = z
  .record(z.string(), AttestationResponse)
  .meta({ id: "AttestationsListForCommitsResponse" });

/** One of the system's own types, with a JSON Schema of its data for each version, newest first. */
const SystemAttestationType = z
  .object({
    name: z.string(),
    versions: z.array(z.object({ version: z.int(), type_schema: z.record(z.string(), z.unknown()) })),
  })
  .meta({ id: "SystemAttestationType" });

const perPage = integerParameter({ min: 1, max: 100 }).default(20);
const span = {
  from_timestamp: timestampParameter().optional(),
  to_timestamp: timestampParameter().optional(),
};

/** Filters and page of the search. `after` continues behind the last page. */
const SearchQuery = z.object({
  attestation_id: textParameter().optional(),
  name: textParameter().optional(),
  name_regex: textParameter().optional(),
  flow: listParameter(textParameter()),
  type: listParameter(textParameter()),
  is_compliant: booleanParameter().optional(),
  ...span,
  after: textParameter().optional(),
  per_page: perPage,
  ...attestationIncludes,
});
export type AttestationSearchQuery = z.output<typeof SearchQuery>;

const commit = z.string().regex(gitCommitPattern);

/** Commits whose attestations are listed, and filters. */
const CriteriaQuery = z.object({
  commit_list: listParameter(commit),
  flow_name: textParameter().optional(),
  attestation_name: textParameter().optional(),
  attestation_type: textParameter().optional(),
  /** Ignored; older clients send it. */
  attestation_id: textParameter().optional(),
  ...attestationIncludes,
});

const columns = [
  time("created_at"),
  "attestation_name",
  "attestation_type",
  "is_compliant",
  "flow_name",
  "trail_name",
  "artifact_fingerprint",
  "git_commit_info.sha1",
  "reported_by",
  "description",
  "origin_url",
  "evidence_archive_fingerprint",
  "attestation_id",
  "html_url",
];

const tag = "Attestation";

/** Lists of attestations that do not start from a trail (contract flows 9.3, 9.4). */
export const attestationSearchEndpoints = {
  list_system_attestation_types: endpoint({
    method: "GET",
    path: "/attestations/system-attestation-types",
    tag,
    summary: "List the system's own attestation types",
    access: anyUser,
    responses: { 200: json("The types, with schemas of their data", z.array(SystemAttestationType)) },
  }),
  get_attestations: endpoint({
    method: "GET",
    path: "/attestations/{org}",
    tag,
    summary: "Search attestations",
    description:
      "Newest first. `flow` and `type` may be repeated: any of the values will do. `name_regex` (RE2 syntax) has to be " +
      "found in the name and goes without `name`. The bounds are inclusive, an empty text is no filter. `_links.next` " +
      "leads to what comes after the page, however many attestations are reported meanwhile; the last page has none. With " +
      "`include=evidence` each tells of the file that came with it.",
    access: organizationReader,
    kept: true,
    fromReplica: true,
    query: SearchQuery,
    responses: {
      200: withCsv(
        json("A page of attestations; none is an empty one", AttestationsCursorResponse),
        "attestations",
        columns,
      ),
    },
  }),
  list_attestations_for_criteria: endpoint({
    method: "GET",
    path: "/attestations/{org}/list_attestations_for_criteria",
    tag,
    summary: "List attestations made for commits",
    description:
      "Each commit asked for is a key, with the attestations that named it as their commit, oldest first. " +
      "`commit_list` is required and may be repeated; `attestation_id` is ignored.",
    access: organizationReader,
    kept: true,
    fromReplica: true,
    query: CriteriaQuery,
    responses: { 200: json("Attestations by commit", AttestationsListForCommitsResponse) },
  }),
  get_flow_attestations: endpoint({
    method: "GET",
    path: "/attestations/{org}/{flow_name}",
    tag,
    summary: "List a flow's attestations",
    description: "Newest first. The bounds are inclusive.",
    access: organizationReader,
    kept: true,
    fromReplica: true,
    query: z.object({ page: pageParameter().default(1), per_page: perPage, ...span, ...attestationIncludes }),
    responses: {
      200: withCsv(json("A page of attestations", AttestationsPaginatedResponse), "attestations", columns),
    },
  }),
} satisfies Endpoints;
