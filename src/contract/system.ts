import { z } from "zod";

import { publicAccess } from "./access.ts";
import { json } from "./common.ts";
import { endpoint, type Endpoints } from "./endpoint.ts";

/** A JSON Schema 2020-12 document. */
const JsonSchema = z.record(z.string(), z.unknown());

export const systemEndpoints = {
  flow_template_schema_v1: endpoint({
    method: "GET",
    path: "/schemas/flow-template/v1",
    tag: "Schemas",
    summary: "JSON Schema of flow templates",
    description: "For editors: what the YAML file of a flow or a trail may hold.",
    access: publicAccess,
    responses: { 200: json("The schema", JsonSchema) },
  }),
  environment_policy_schema_v1: endpoint({
    method: "GET",
    path: "/schemas/environment-policy/v1",
    tag: "Schemas",
    summary: "JSON Schema of environment policies",
    description: "For editors: what the YAML file of a policy may hold.",
    access: publicAccess,
    responses: { 200: json("The schema", JsonSchema) },
  }),
} satisfies Endpoints;
