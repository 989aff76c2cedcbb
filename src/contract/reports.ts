import { z } from "zod";

import { annotationKeyPattern, externalUrlLabelPattern, fingerprintPattern } from "../domain/names.ts";
import { indexedText } from "./common.ts";
import { exact, exactWhole } from "./exact.ts";
import { listOf, mapOf } from "./lists.ts";

/** What reports about trails, artifacts and attestations have in common. */

/** Where repos come from. The mixed spelling is the public interface's. */
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

/** Unix seconds a caller says, decimals allowed: the years 1 to 9999, so that every program can show them. */
export const ReportedTimestamp = z.number().min(-62_135_596_800).max(253_402_300_799);

/** A commit as the reporter saw it. Redacted fields carry whatever text the reporter put there. Other keys are ignored. */
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

/** The repo a report came from. `id` is the provider's own. Other keys are ignored. */
export const RepoInfoPostInput = z
  .object({
    name: indexedText(),
    id: indexedText().nullish(),
    url: z.string().max(maxUrlLength),
    description: z.string().nullish(),
    provider: z.enum(repoProviders).nullish(),
    namespace_path: listOf(indexedText(), { max: 50 }).nullish(),
    additional_info: exactWhole(z.record(z.string(), z.unknown())).nullish(),
  })
  .meta({ id: "RepoInfoPostInput" });
export type RepoInfoPostInput = z.output<typeof RepoInfoPostInput>;

/** A link to something outside, with the SHA-256 of what was there. `href` need not be a URL. */
export const ExternalAttachmentUrl = z
  .strictObject({ href: z.string(), fingerprint: z.string().regex(fingerprintPattern).nullish() })
  .meta({ id: "ExternalAttachmentUrl" });
export type ExternalAttachmentUrl = z.output<typeof ExternalAttachmentUrl>;

/** Links by label. */
export const ExternalUrls = mapOf(z.string().regex(externalUrlLabelPattern), ExternalAttachmentUrl);
export type ExternalUrls = z.output<typeof ExternalUrls>;

/** Short facts by name, for people. */
export const Annotations = exact(mapOf(z.string().regex(annotationKeyPattern), z.string()));

/** Whatever JSON the reporter wants to keep with the report: an object or a list. */
export const UserData = z.union([z.record(z.string(), z.unknown()), z.array(z.unknown())]);

/** The same as it is reported. */
export const GivenUserData = exactWhole(UserData);
