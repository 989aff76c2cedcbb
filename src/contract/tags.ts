import { z } from "zod";

import { tagKeyPattern } from "../domain/names.ts";
import { tagLimits } from "../domain/tags.ts";
import { organizationReader, organizationRole } from "./access.ts";
import { json, okResponse } from "./common.ts";
import { endpoint, type Endpoints } from "./endpoint.ts";
import { listOf, mapOf } from "./lists.ts";
import { textParameter } from "./parameters.ts";

const key = z.string().max(tagLimits.keyLength).regex(tagKeyPattern);

/** Body of an update of tags. Keys are removed first: one that is both removed and set ends up set. */
const PatchTags = z
  .strictObject({
    set_tags: mapOf(key, z.string().max(tagLimits.valueLength)).nullish(),
    /** Older clients send an empty text for an empty list. */
    remove_tags: z
      .preprocess((value) => (value === "" ? [] : value), listOf(z.string(), { max: 1000 }).nullish())
      .optional(),
  })
  .meta({ id: "TagPatchInput" });

/** Tags to choose from, by key and value (an extension of the public interface). */
const TagChoices = z
  .object({
    tags: z.array(
      z.object({
        key: z.string(),
        values: z.array(z.string()),
        /** Whether there are more values, or some that are too long to choose. */
        truncated: z.boolean(),
      }),
    ),
    /** Whether there are more keys. */
    truncated: z.boolean(),
  })
  .meta({ id: "TagChoices" });

export const tagEndpoints = {
  list_tag_choices: endpoint({
    method: "GET",
    path: "/tags/{org}/{resource_type}",
    tag: "Tags",
    summary: "List the tags that are in use",
    description:
      "Keys, and values of each, that any environment, flow, repo or control has that is not archived; `resource_type` says " +
      "which. At most 200 keys with at most 100 values each, of no more than 256 characters. `search` is the beginning of a " +
      "key, or a key and the beginning of a value with a colon between them.",
    access: organizationReader,
    kept: true,
    fromReplica: true,
    query: z.object({ search: textParameter().optional() }),
    responses: { 200: json("The tags", TagChoices) },
  }),
  patch_tags: endpoint({
    method: "PATCH",
    path: "/tags/{org}/{resource_type}/{resource_id}",
    tag: "Tags",
    summary: "Set and remove tags",
    description:
      "`resource_type` is `environment`, `flow`, `repo` or `control`; `resource_id` the name of an environment or flow, the internal id of a repo, the identifier of a control.",
    access: organizationRole("member"),
    body: { kind: "json", schema: PatchTags },
    responses: { 200: okResponse },
  }),
} satisfies Endpoints;
