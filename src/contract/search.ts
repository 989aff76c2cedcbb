import { z } from "zod";

import { longestSearch, searchKinds } from "../domain/search-names.ts";
import { searchPattern } from "../domain/search.ts";
import { organizationReader } from "./access.ts";
import { json, Timestamp } from "./common.ts";
import { endpoint, type Endpoints } from "./endpoint.ts";
import { choiceParameter, integerParameter, textParameter } from "./parameters.ts";

const matches = { count: z.int(), matches: z.array(z.string()) };

/** Commits that begin with the searched text. */
const ResolvedCommits = z
  .object({ type: z.literal("commit"), ...matches })
  .meta({ id: "SearchResolvedCommitsModel" });

/** Fingerprints that begin with the searched text. */
const ResolvedFingerprints = z
  .object({ type: z.literal("fingerprint"), ...matches })
  .meta({ id: "SearchResolvedFingerprintsModel" });

/** What the searched text stands for. */
const Resolved = z
  .object({
    type: z.enum(["commit", "fingerprint", "multiple"]),
    /** The match, or the first of several. */
    full_match: z.string(),
    fingerprints: ResolvedFingerprints,
    commits: ResolvedCommits,
  })
  .meta({ id: "SearchResolvedModel" });

/** An artifact as one flow knows it. Texts are empty for one that only ran. */
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

/** The result of a search (contract environments 10.3). */
export const SearchResult = z
  .object({ resolved_to: Resolved, artifacts: z.array(FoundArtifact) })
  .meta({ id: "SearchResultGetResponse" });
export type SearchResult = z.output<typeof SearchResult>;

/** Something that is called like the searched text. */
export const NamedThing = z
  .object({
    kind: z.enum(searchKinds),
    name: z.string(),
    /** What tells it from others of its name: the type of an environment, the flow of a trail; may be empty. */
    context: z.string(),
    /** The text that matches: the name, a fingerprint, the identifier of a control, an address. */
    matched: z.string(),
    html_url: z.string(),
  })
  .meta({ id: "SearchNamedThing" });
export type NamedThing = z.output<typeof NamedThing>;

/** A text of some length that is not blank. */
const searchedText = textParameter().refine((text) => text.trim() !== "" && text.length <= longestSearch, {
  error: `Text should have 1 to ${longestSearch} characters`,
});

export const searchEndpoints = {
  search_names: endpoint({
    method: "GET",
    path: "/search/{org}",
    tag: "Search",
    summary: "Find anything by its name",
    description:
      "Environments, flows, artifacts, repos, policies, controls and attestation types are found by the beginning of their " +
      "name or of a word in it, trails by the beginning of their name, artifacts and commits by that of their digest, pull " +
      "requests and tickets by what attestations say: a number, an address, a key. Flows, repos, policies, controls and " +
      "attestation types are found by any part of their name, too, among the first 5000. Upper case does not matter, nor do " +
      "tags of artifacts. The best matches come first: the same text, then what begins with it, a word that does, and what " +
      "contains it; equally good ones take turns by kind. What is archived is left out, but for trails and artifacts.",
    access: organizationReader,
    kept: true,
    fromReplica: true,
    query: z.object({
      q: searchedText,
      kind: choiceParameter(searchKinds).optional(),
      limit: integerParameter({ min: 1, max: 50 }).default(20),
    }),
    responses: { 200: json("What was found; nothing is an empty list", z.array(NamedThing)) },
  }),
  get_search: endpoint({
    method: "GET",
    path: "/search/{org}/sha/{search_value}",
    tag: "Search",
    summary: "Find artifacts by commit or fingerprint",
    description:
      "The value is a commit or a fingerprint, or the beginning of one: at least 5 hexadecimal digits. At most 1000 commits and " +
      "1000 fingerprints are counted, and the newest 100 artifacts shown, the oldest of them first, with their newest 1000 starts and exits.",
    access: organizationReader,
    kept: true,
    fromReplica: true,
    params: z.object({ search_value: z.string().regex(searchPattern) }),
    responses: { 200: json("What was found", SearchResult) },
  }),
} satisfies Endpoints;
