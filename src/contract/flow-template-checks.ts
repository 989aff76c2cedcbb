import { z } from "zod";

import { organizationRole } from "./access.ts";
import { json } from "./common.ts";
import { endpoint, type Endpoints } from "./endpoint.ts";
import { Template } from "./trails.ts";

/** Body of a check. */
const CheckFlowTemplate = z
  .strictObject({
    /** The YAML text. */
    template: z.string(),
  })
  .meta({ id: "FlowTemplateCheckPostInput" });

/** What is wrong with a template (an extension of the public interface). */
const FlowTemplateCheck = z
  .object({
    valid: z.boolean(),
    /** In the order in which they were found, 50 or so at most. */
    errors: z.array(
      z.object({
        /** As `trail.artifacts[0].name`; empty for the template as a whole. */
        path: z.string(),
        /** From 1; of the key or item, or of what should have it. Null when there is no place. */
        line: z.int().nullable(),
        /** Character of the line, from 1. */
        column: z.int().nullable(),
        message: z.string(),
      }),
    ),
    /** What it says; null unless it is valid. */
    template: Template.omit({ content: true }).nullable(),
  })
  .meta({ id: "FlowTemplateCheckResponse" });

export const flowTemplateCheckEndpoints = {
  check_flow_template: endpoint({
    method: "POST",
    path: "/flows/{org}/template/check",
    recordsNothing: true,
    tag: "Flows",
    summary: "Check the template of a flow",
    description:
      "Reads it as creating a flow does, and says where what is wrong. Answers 200 in either case. Stores nothing.",
    access: organizationRole("member"),
    body: { kind: "json", schema: CheckFlowTemplate },
    responses: { 200: json("What it says, or what is wrong with it", FlowTemplateCheck) },
  }),
} satisfies Endpoints;
