import { z } from "zod";

import { definitionLimits } from "../domain/attestation-types/definition.ts";
import { customAttestationTypeNamePattern } from "../domain/names.ts";
import { organizationReader, organizationRole } from "./access.ts";
import { AttestationData } from "./attestation-inputs.ts";
import { json, nameText, Ok, okResponse, textFile, Timestamp } from "./common.ts";
import { endpoint, type Endpoints } from "./endpoint.ts";
import { exactOpaque } from "./exact.ts";
import { listOf } from "./lists.ts";
import { integerParameter } from "./parameters.ts";

/** A jq expression. */
const expression = z.string().max(definitionLimits.expressionLength);

/** An evaluator with rules in jq: data comply when each rule yields true. */
const JQEvaluator = z
  .object({
    content_type: z.literal("jq").default("jq"),
    rules: listOf(expression, { max: definitionLimits.rules }),
  })
  .meta({ id: "JQEvaluator" });

/** An evaluator without rules: data comply when they fit the schema. */
const DefaultEvaluator = z
  .object({ content_type: z.literal("default").default("default") })
  .meta({ id: "DefaultEvaluator" });

/** A jq expression whose result is shown under a name. */
const SummaryItem = z
  .object({ name: z.string().min(1).max(definitionLimits.summaryNameLength), expression })
  .meta({ id: "CustomAttestationTypeSummaryItem" });

/** A custom attestation type as it is posted; the JSON Schema comes as a file beside it. */
const CustomAttestationTypePostInput = z
  .strictObject({
    name: nameText(customAttestationTypeNamePattern),
    description: z.string().max(definitionLimits.descriptionLength).nullish(),
    evaluator: z.union([JQEvaluator, DefaultEvaluator]).nullable().default({ content_type: "default" }),
    summary: listOf(SummaryItem, { max: definitionLimits.summary }).nullish(),
  })
  .meta({ id: "CustomAttestationTypePostInput" });

/** A version of a type. Its schema and its summary are null when it has none. */
const CustomAttestationTypeVersion = z
  .object({
    version: z.int(),
    timestamp: Timestamp,
    created_by: z.string(),
    type_schema: z.record(z.string(), z.unknown()).nullable(),
    evaluator: z.union([
      z.object({ content_type: z.literal("jq"), rules: z.array(z.string()) }),
      z.object({ content_type: z.literal("default") }),
    ]),
    summary: z.array(z.object({ name: z.string(), expression: z.string() })).nullable(),
  })
  .meta({ id: "CustomAttestationTypeVersion" });

/** A type with its versions, newest first. */
const CustomAttestationType = z
  .object({
    name: z.string(),
    org: z.string(),
    /** Description of the newest version shown; absent when it has none. */
    description: z.string().optional(),
    archived: z.boolean(),
    created_by: z.string(),
    created_at: Timestamp,
    last_modified_at: Timestamp,
    versions: z.array(CustomAttestationTypeVersion),
  })
  .meta({ id: "CustomAttestationType" });

/** A type with one of its versions alone. */
const CustomAttestationTypeAtVersion = CustomAttestationType.omit({
  created_by: true,
  created_at: true,
  last_modified_at: true,
}).meta({ id: "CustomAttestationTypeAtVersion" });

/** Body of a trial. What is left out or null is not asked. */
const TryCustomAttestationType = z
  .strictObject({
    /** JSON Schema of the data. */
    schema: exactOpaque(z.record(z.string(), z.unknown())).nullish(),
    /** In jq, all of which have to yield true. */
    rules: listOf(expression, { max: definitionLimits.rules }).nullish(),
    summary: listOf(SummaryItem, { max: definitionLimits.summary }).nullish(),
    /** The data, as they would be attested. */
    payload: AttestationData,
  })
  .meta({ id: "CustomAttestationTypeTryPostInput" });

/** What a type would make of data (an extension of the public interface). */
const CustomAttestationTypeTrial = z
  .object({
    is_compliant: z.boolean(),
    /** Where the data do not fit the schema, as JSON pointers: they would be refused, and no rule was tried. */
    schema_errors: z.array(z.object({ path: z.string(), message: z.string() })),
    /** One for each rule, in order. */
    rule_results: z.array(
      z.object({
        rule: z.string(),
        passed: z.boolean(),
        /** Why it did not pass. */
        error: z.string().optional(),
      }),
    ),
    summary: z.object({
      /** One group of rows for each element of a list, one group for anything else. */
      groups: z.array(
        z.array(
          z.object({
            name: z.string(),
            /** What the expression yielded: null for nothing, a list for several values. */
            value: z.unknown(),
            /** Why there is no value. */
            error: z.string().optional(),
          }),
        ),
      ),
      /** Why there are not as many groups as there are elements. */
      incomplete: z.string().nullable(),
    }),
  })
  .meta({ id: "CustomAttestationTypeTryResponse" });

const one = "/custom-attestation-types/{org}/{custom_attestation_type_name}";

export const attestationTypeEndpoints = {
  get_custom_attestation_types: endpoint({
    method: "GET",
    path: "/custom-attestation-types/{org}",
    tag: "Custom Attestation Types",
    summary: "List custom attestation types",
    description: "Newest first. Archived ones are left out; each can be read by its name.",
    access: organizationReader,
    kept: true,
    responses: { 200: json("The types", z.array(CustomAttestationType)) },
  }),
  post_custom_attestation_type: endpoint({
    method: "POST",
    path: "/custom-attestation-types/{org}",
    tag: "Custom Attestation Types",
    summary: "Create a custom attestation type, or a new version of it",
    description:
      "A version is made only when description, schema, rules or summary differ from the latest version, so the " +
      "request can be repeated. An archived type comes back. Programs are jq 1.7 without environment, modules and " +
      "`halt`; the schema is of draft-07 (the default) or 2020-12, and refers to nothing outside of itself. Its " +
      "patterns have neither look-around nor back-references.",
    access: organizationRole("member"),
    body: {
      kind: "multipart",
      field: "data_json",
      schema: CustomAttestationTypePostInput,
      files: { type_schema: textFile },
    },
    responses: { 201: { description: "Stored, or stored before", schema: Ok } },
  }),
  get_custom_attestation_type: endpoint({
    method: "GET",
    path: one,
    tag: "Custom Attestation Types",
    summary: "Get a custom attestation type with all its versions, or with one",
    access: organizationReader,
    kept: true,
    query: z.object({ version: integerParameter().optional() }),
    responses: { 200: json("The type", z.union([CustomAttestationType, CustomAttestationTypeAtVersion])) },
  }),
  archive_custom_attestation_type: endpoint({
    method: "PUT",
    path: `${one}/archive`,
    tag: "Custom Attestation Types",
    summary: "Archive a custom attestation type",
    description: "It takes no new attestations; what was attested stays. Archiving it again changes nothing.",
    access: organizationRole("member"),
    responses: { 200: okResponse },
  }),
  try_custom_attestation_type: endpoint({
    method: "POST",
    path: "/custom-attestation-types/{org}/try",
    recordsNothing: true,
    tag: "Custom Attestation Types",
    summary: "Try a custom attestation type on data",
    description:
      "Judges the data as an attestation of a type with this schema and these rules would be judged, within the same limits, and " +
      "works out the summary. A schema, rule or expression that cannot be used is a 400 that names it. Stores nothing.",
    access: organizationRole("member"),
    body: { kind: "json", schema: TryCustomAttestationType },
    responses: { 200: json("The verdict, and what it rests on", CustomAttestationTypeTrial) },
  }),
} satisfies Endpoints;
