import type { attestationTypeEndpoints } from "../../../contract/attestation-types.ts";
import type { UploadedFile } from "../../../contract/endpoint.ts";
import { definitionLimits, normalDefinition } from "../../../domain/attestation-types/definition.ts";
import { AppError, invalidInput } from "../../../domain/errors.ts";
import { digitsWrittenOut, findRoundedNumber } from "../../../lib/json-numbers.ts";
import { isJsonObject } from "../../../lib/json-object.ts";
import { JsonError, parseJson, textOf } from "../../../lib/json.ts";
import type { Handlers } from "../../kernel/call.ts";
import { getType, listTypes } from "./read-service.ts";
import { archiveAttestationType, postAttestationType } from "./service.ts";
import { tryDefinition } from "./trial.ts";

function invalidSchema(reason: string): Error {
  return invalidInput({ type_schema: `${reason} [input: …]` });
}

/** @throws AppError too_large. */
function refuseLargeSchema(bytes: number): void {
  const kibibytes = definitionLimits.schemaBytes / 1024;
  if (bytes > definitionLimits.schemaBytes)
    throw new AppError("too_large", `JSON Schema exceeds ${kibibytes} KiB limit`);
}

/**
 * Reads the uploaded JSON Schema.
 * @throws AppError invalid when it is no JSON object, or has a number that could not be kept as it is; too_large when it is too large.
 */
function readSchema(file: UploadedFile | undefined): Record<string, unknown> | undefined {
  if (file === undefined) return undefined;
  refuseLargeSchema(file.bytes.length);
  let schema: unknown;
  try {
    schema = parseJson(file.bytes);
  } catch (error) {
    if (error instanceof JsonError) throw invalidSchema(`Invalid JSON: ${error.message}`);
    throw error;
  }
  if (schema === undefined) throw invalidSchema("Invalid JSON: Text is empty");
  if (!isJsonObject(schema)) throw invalidSchema("JSON Schema should be an object");
  const text = textOf(file.bytes);
  const rounded = findRoundedNumber(text);
  if (rounded !== undefined)
    throw invalidSchema(`JSON Schema has a number that would be rounded: ${rounded.slice(0, 50)}`);
  // Powers of ten are written out where it is kept, three hundred digits each at most.
  refuseLargeSchema(file.bytes.length + digitsWrittenOut(text));
  return schema;
}

export const attestationTypeHandlers: Handlers<typeof attestationTypeEndpoints> = {
  get_custom_attestation_types: async (deps, { org }) => ({
    status: 200,
    body: await listTypes(deps.db, org),
  }),
  post_custom_attestation_type: async (deps, call) => {
    await postAttestationType(deps, call, { ...call.body, type_schema: readSchema(call.files.type_schema) });
    return { status: 201, body: "OK" };
  },
  get_custom_attestation_type: async (deps, { org, params, query }) => ({
    status: 200,
    body: await getType(deps.db, org, params.custom_attestation_type_name, query.version),
  }),
  archive_custom_attestation_type: async (deps, call) => {
    await archiveAttestationType(deps, call, call.params.custom_attestation_type_name);
    return { status: 200, body: "OK" };
  },
  try_custom_attestation_type: async (deps, { org, body }) => {
    const { schema, rules, summary, payload } = body;
    if (schema) refuseLargeSchema(Buffer.byteLength(schema.text));
    const definition = normalDefinition({
      type_schema: schema?.value,
      evaluator: rules ? { content_type: "jq", rules } : null,
      summary,
    });
    return { status: 200, body: await tryDefinition(deps, org.id, definition, payload) };
  },
};
