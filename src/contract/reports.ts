import { z } from "zod";

import { annotationKeyPattern, externalUrlLabelPattern, fingerprintPattern } from "../domain/names.ts";
import { indexedText } from "./common.ts";
import { exact, exactOpaque } from "./exact.ts";
import { listOf, mapOf } from "./lists.ts";

/** Providers of repos. The mixed spelling is the public interface's. */
export const repoProviders = [
  "github",
  "gitlab",
  "bitbucket",
  "bitbucket_cloud",
  "bitbucket_dc",
  "azure-devops",
  "azure_devops_services",
  "azure_devops_server",
  "circleci",
  "git",
  "subversion",
] as const;

/**
 * A time that a reporter gives, in Unix seconds, decimals allowed: the years 1 to 9999, so that every program can show
 * it.
 */
export const ReportedTimestamp = z.number().min(-62_135_596_800).max(253_402_300_799);

/** A commit as reported. Redacted fields carry whatever text the reporter put there. Other keys are ignored. */
export const GitCommit = z
  .object({
    sha1: indexedText(),
    message: z.string().nullish(),
    author: z.string().nullish(),
    author_username: z.string().nullish(),
    branch: z.string().nullish(),
    timestamp: ReportedTimestamp.nullish(),
    url: z.string().nullish(),
    parents: listOf(z.string()).nullish(),
    verified: z.boolean().nullish(),
    signature_state: z.string().nullish(),
  })
  .meta({ id: "GitCommit" });
export type GitCommit = z.output<typeof GitCommit>;

/** Longest URL of a repo: what browsers and proxies agree on. */
export const maxUrlLength = 2048;

/** A repo as reported. `id` is the provider's own. Other keys are ignored. */
export const RepoInfoPostInput = z
  .object({
    name: indexedText(),
    id: indexedText().nullish(),
    url: z.string().max(maxUrlLength),
    description: z.string().nullish(),
    provider: z.enum(repoProviders).nullish(),
    namespace_path: listOf(indexedText(), { max: 50 }).nullish(),
    additional_info: exactOpaque(z.record(z.string(), z.unknown())).nullish(),
  })
  .meta({ id: "RepoInfoPostInput" });
export type RepoInfoPostInput = z.output<typeof RepoInfoPostInput>;

/** A link to something outside, with the SHA-256 of what was there. `href` need not be a URL. */
const ExternalAttachmentUrl = z
  .strictObject({ href: z.string(), fingerprint: z.string().regex(fingerprintPattern).nullish() })
  .meta({ id: "ExternalAttachmentUrl" });
type ExternalAttachmentUrl = z.output<typeof ExternalAttachmentUrl>;

/** Links by label. */
export const ExternalUrls = mapOf(z.string().regex(externalUrlLabelPattern), ExternalAttachmentUrl);
export type ExternalUrls = z.output<typeof ExternalUrls>;

/** Short facts by name, for people. */
export const Annotations = exact(mapOf(z.string().regex(annotationKeyPattern), z.string()));

/** Free JSON that is kept with a report: an object or a list. */
export const UserData = z.union([z.record(z.string(), z.unknown()), z.array(z.unknown())]);

/** `UserData` as it is reported, kept as it was written. */
export const GivenUserData = exactOpaque(UserData);
