import { z } from "zod";

import { searchPattern } from "../domain/search.ts";
import { organizationReader } from "./access.ts";
import { json, Timestamp } from "./common.ts";
import { endpoint, type Endpoints } from "./endpoint.ts";

const matches = { count: z.int(), matches: z.array(z.string()) };

/** The commits a text is the beginning of. */
export const ResolvedCommits = z
  .object({ type: z.literal("commit"), ...matches })
  .meta({ id: "SearchResolvedCommitsModel" });

/** The fingerprints a text is the beginning of. */
export const ResolvedFingerprints = z
  .object({ type: z.literal("fingerprint"), ...matches })
  .meta({ id: "SearchResolvedFingerprintsModel" });

/** What a text is the beginning of. */
export const Resolved = z
  .object({
    type: z.enum(["commit", "fingerprint", "multiple"]),
    /** The match, or the first of several. */
    full_match: z.string(),
    fingerprints: ResolvedFingerprints,
    commits: ResolvedCommits,
  })
  .meta({ id: "SearchResolvedModel" });

/** An artifact as one flow knows it, or as it only ran; texts are empty then. */
export const FoundArtifact = z
  .object({
    fingerprint: z.string(),
    name: z.string(),
    has_provenance: z.boolean(),
    git_commit: z.string(),
    /** The flow, by its older name. */
    pipeline: z.string(),
    flow: z.string(),
    trail: z.string(),
    template_reference_name: z.string(),
    build_url: z.string(),
    commit_url: z.string(),
    compliance_state: z.string(),
    /** Names of environments. */
    running_in: z.array(z.string()),
    exited_from: z.array(z.string()),
    html_url: z.string(),
    api_url: z.string(),
    /** The commit at its own time, if the reporter said it; then the first report, starts and exits, oldest first. */
    history: z.array(z.object({ event: z.string(), timestamp: Timestamp })),
  })
  .meta({ id: "SearchFoundArtifactModel" });
export type FoundArtifact = z.output<typeof FoundArtifact>;

/** What was found (contract environments 10.3). */
export const SearchResult = z
  .object({ resolved_to: Resolved, artifacts: z.array(FoundArtifact) })
  .meta({ id: "SearchResultGetResponse" });
export type SearchResult = z.output<typeof SearchResult>;

export const searchEndpoints = {
  get_search: endpoint({
    method: "GET",
    path: "/search/{org}/sha/{search_value}",
    tag: "Search",
    summary: "Find artifacts by commit or fingerprint",
    description:
      "The value is a commit or a fingerprint, or the beginning of one: at least 5 hexadecimal digits. At most 1000 commits and " +
      "1000 fingerprints are counted, and the newest 100 artifacts shown, the oldest of them first, with their newest 1000 starts and exits.",
    access: organizationReader,
    params: z.object({ search_value: z.string().regex(searchPattern) }),
    responses: { 200: json("What was found", SearchResult) },
  }),
} satisfies Endpoints;
