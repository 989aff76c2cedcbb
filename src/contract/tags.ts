import { z } from "zod";

import { tagKeyPattern } from "../domain/names.ts";
import { tagLimits } from "../domain/tags.ts";
import { organizationRole } from "./access.ts";
import { okResponse } from "./common.ts";
import { endpoint, type Endpoints } from "./endpoint.ts";
import { listOf, mapOf } from "./lists.ts";

const key = z.string().max(tagLimits.keyLength).regex(tagKeyPattern);

/** Body of a change of tags. Keys are removed first, so one that is both removed and set ends up set. */
export const PatchTags = z
  .strictObject({
    set_tags: mapOf(key, z.string().max(tagLimits.valueLength)).nullish(),
    /** Older clients send an empty text for an empty list. */
    remove_tags: z
      .preprocess((value) => (value === "" ? [] : value), listOf(z.string(), { max: 1000 }).nullish())
      .optional(),
  })
  .meta({ id: "TagPatchInput" });

export const tagEndpoints = {
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
