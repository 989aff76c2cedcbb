import { z } from "zod";

import { environmentTypes } from "../domain/environments.ts";
import { organizationReader } from "./access.ts";
import { json } from "./common.ts";
import { endpoint, type Endpoints } from "./endpoint.ts";
import { pageOfList } from "./pagination.ts";
import { booleanParameter, integerParameter, pageParameter, textParameter } from "./parameters.ts";

/** An environment, and the policies there that ask for the control. */
const CoveredEnvironment = z
  .object({
    name: z.string(),
    type: z.enum(environmentTypes),
    covered: z.boolean(),
    /** Names of the attached policies whose latest version names the control. */
    policies: z.array(z.string()),
  })
  .meta({ id: "ControlCoverageEnvironment" });

/** How many environments enforce a control, and a page of the environments that match (contract flows 11.2). */
const ControlCoverage = z
  .strictObject({
    ...pageOfList,
    /** Number of live environments of the organization, whatever the filters. */
    total: z.int(),
    /** Number of those that enforce the control. */
    covered: z.int(),
    /** `covered` of `total` in percent, with one decimal; 0 without environments. */
    coverage_percent: z.number(),
    environments: z.array(CoveredEnvironment),
  })
  .meta({ id: "ControlCoverageResponse" });

/** Filters and page of the environments. */
const ControlCoverageQuery = z.object({
  page: pageParameter().default(1),
  per_page: integerParameter({ min: 1, max: 100 }).default(15),
  search: textParameter().optional(),
  covered: booleanParameter().optional(),
});
type ControlCoverageQuery = z.output<typeof ControlCoverageQuery>;

export const controlCoverageEndpoints = {
  get_control_coverage: endpoint({
    method: "GET",
    path: "/controls/{org}/{identifier}/coverage",
    tag: "Controls",
    summary: "List the environments that enforce a control, and those that do not",
    description:
      "An environment enforces a control when the latest version of a policy attached to it asks for decisions on it, met " +
      "or not. Sorted by name, archived environments left out. `search` is part of the name, in any case.",
    access: organizationReader,
    kept: true,
    fromReplica: true,
    query: ControlCoverageQuery,
    responses: { 200: json("The coverage", ControlCoverage) },
  }),
} satisfies Endpoints;
