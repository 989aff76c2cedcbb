import { z } from "zod";

import { siteOf } from "../domain/sessions.ts";
import { ErrorBody } from "./common.ts";
import {
  type Access,
  contentTypesOf,
  type Endpoint,
  type Endpoints,
  needsRecentSignIn,
  type RequestBody,
} from "./endpoint.ts";

type Json = Record<string, unknown>;

const componentUri = (id: string): string => `#/components/schemas/${id}`;

/** The schemas of the document: named ones become components, others stay where they are used. */
class Schemas {
  readonly #registry = z.registry<{ id: string }>();
  readonly #inline = new Map<z.ZodType, string>();
  readonly #named = new Map<string, z.ZodType>();

  /** Registers a schema. @returns its component name, or a temporary id that is replaced by the schema in the end. */
  add(schema: z.ZodType): string {
    const name = z.globalRegistry.get(schema)?.id;
    if (name !== undefined) {
      this.#addNamed(name, schema);
      return name;
    }
    const known = this.#inline.get(schema);
    if (known !== undefined) return known;
    const id = `__inline_${this.#inline.size}`;
    this.#inline.set(schema, id);
    this.#registry.add(schema, { id });
    return id;
  }

  #addNamed(name: string, schema: z.ZodType): void {
    const known = this.#named.get(name);
    if (known === undefined) {
      this.#named.set(name, schema);
      this.#registry.add(schema, { id: name });
    } else if (known !== schema) throw new Error(`Two schemas are called ${name}`);
  }

  /** Writes all schemas as JSON Schema 2020-12, by id. Named schemas inside of others are included. */
  render(): Record<string, Json> {
    const { schemas } = z.toJSONSchema(this.#registry, {
      io: "input",
      uri: componentUri,
      unrepresentable: "any",
      // Left out where something below is transformed on its way in, as lists are that are looked at beforehand.
      override: ({ zodSchema, jsonSchema }) => {
        if (zodSchema._zod.def.type === "default")
          jsonSchema.default ??= zodSchema._zod.def.defaultValue as Json;
      },
    });
    const { __shared: shared, ...own } = schemas as Record<string, Json>;
    const nested = (shared?.["$defs"] ?? {}) as Record<string, Json>;
    return Object.fromEntries(
      Object.entries({ ...nested, ...own }).map(([id, schema]) => {
        const { $schema: _schema, $id: _id, id: _name, ...rest } = schema;
        return [id, rest];
      }),
    );
  }
}

function securityOf(access: Access): Json[] | undefined {
  if (access.kind === "public" || access.kind === "site") return [];
  if (access.kind === "signature") return [{ bearer: [] }, { basic: [] }, { signature: [] }];
  if (access.kind === "organization" && access.anonymous)
    return [{ bearer: [] }, { basic: [] }, { session: [] }, {}];
  return undefined;
}

function accessText(access: Access): string {
  switch (access.kind) {
    case "public":
      return "No credentials are needed.";
    case "site":
      return "No credentials are needed, but proof that a page of this server asks: `Sec-Fetch-Site: same-origin`, or its `Origin`.";
    case "user":
      return "Any valid key, or a session.";
    case "instance_admin":
      return access.orMetricsToken === true
        ? "Instance administrators, and who has the token for metrics."
        : "Instance administrators only.";
    case "signature":
      return "A valid signature, or a key with the right to report.";
    case "organization":
      return [
        `Role: ${access.role} or above${access.anonymous ? "; anybody when the organization is public" : ""}.`,
        ...(access.unbound === true ? ["Not by a key that is bound to networks."] : []),
      ].join(" ");
  }
}

function recentSignInText(endpoint: Endpoint): string | undefined {
  return needsRecentSignIn(endpoint)
    ? "Sessions that were begun at a sign-in provider need a sign-in of the last 30 minutes: else 403 with the reason `insufficient_user_authentication`."
    : undefined;
}

/** Failures that endpoints have in common, by status: their component names and descriptions. */
const failures = {
  "400": { name: "InvalidInput", description: "The input is not valid" },
  "401": { name: "Unauthenticated", description: "Credentials are missing or do not work" },
  "403": { name: "Forbidden", description: "The caller may not do this" },
  "404": { name: "NotFound", description: "Not found" },
  default: {
    name: "Failure",
    description: "Any other failure, such as a request that is too large or may be tried again",
  },
};

const failureUri = (name: string): string => `#/components/responses/${name}`;

/** Describes the common failures, to be referred to by endpoints. */
function failureComponents(schemas: Schemas): Json {
  const content = { "application/json": { schema: { $ref: componentUri(schemas.add(ErrorBody)) } } };
  const named = Object.values(failures).map(({ name, description }) => [name, { description, content }]);
  return Object.fromEntries(named);
}

/** Writes the default of a parameter, if it has one. */
function defaultOf(schema: z.ZodType): Json {
  return schema instanceof z.ZodDefault ? { default: schema.def.defaultValue } : {};
}

/** Writes the members of a Zod object as OpenAPI parameters. */
function objectParameters(
  schemas: Schemas,
  place: "path" | "query" | "header",
  schema: z.ZodType | undefined,
): Json[] {
  if (!(schema instanceof z.ZodObject)) return [];
  return Object.entries(schema.shape as Record<string, z.ZodType>).map(([name, value]) => ({
    name,
    in: place,
    required: place === "path" || !value.safeParse(undefined).success,
    schema: { $ref: componentUri(schemas.add(value)), ...defaultOf(value) },
  }));
}

function pathParameters(schemas: Schemas, endpoint: Endpoint): Json[] {
  const described = objectParameters(schemas, "path", endpoint.params);
  const names = Array.from(endpoint.path.matchAll(/\{(\w+)(?:\.\.\.)?\}/g), ([, name]) => name);
  return names.map(
    (name) =>
      described.find((parameter) => parameter["name"] === name) ?? {
        name,
        in: "path",
        required: true,
        schema: { type: "string" },
      },
  );
}

function requestBody(schemas: Schemas, body: RequestBody): Json {
  const ref = { $ref: componentUri(schemas.add(body.schema)) };
  if (body.kind !== "multipart") return { required: true, content: { "application/json": { schema: ref } } };
  const files = Object.keys(body.files).map((name) => [
    name,
    { type: "string", contentMediaType: "application/octet-stream" },
  ]);
  return {
    required: true,
    content: {
      "multipart/form-data": {
        schema: {
          type: "object",
          properties: { [body.field]: ref, ...Object.fromEntries(files) },
          required: [body.field],
        },
        encoding: { [body.field]: { contentType: "application/json" } },
      },
    },
  };
}

function responses(schemas: Schemas, endpoint: Endpoint): Json {
  const declared = Object.entries(endpoint.responses).map(([status, response]) => {
    const content =
      response.schema === undefined
        ? Object.fromEntries(contentTypesOf(response).map((type) => [type, { schema: { type: "string" } }]))
        : {
            "application/json": { schema: { $ref: componentUri(schemas.add(response.schema)) } },
            ...(response.csv === undefined ? {} : { "text/csv": { schema: { type: "string" } } }),
          };
    return [status, { description: response.description, content }];
  });
  const possible = Object.entries(failures)
    .filter(([status]) => endpoint.access.kind !== "public" || ["404", "default"].includes(status))
    .map(([status, { name }]) => [status, { $ref: failureUri(name) }]);
  return { ...Object.fromEntries(possible), ...Object.fromEntries(declared) };
}

/** Says how the list can be had as CSV; undefined when it cannot. */
function csvText({ responses: declared }: Endpoint): string | undefined {
  const form = declared[200]?.csv;
  if (form === undefined) return undefined;
  const columns = form.columns.map(({ path }) => `\`${path}\``).join(", ");
  return (
    `With \`Accept: text/csv\` the answer is CSV with all that matches, whatever the page: ${columns}. ` +
    "Times are in ISO 8601, several values of a cell have semicolons between them, and texts that a spreadsheet would " +
    "take for a formula begin with an apostrophe."
  );
}

function operation(schemas: Schemas, id: string, endpoint: Endpoint): Json {
  const security = securityOf(endpoint.access);
  return {
    operationId: id,
    tags: [endpoint.tag],
    summary: endpoint.summary,
    description: [
      endpoint.description,
      csvText(endpoint),
      accessText(endpoint.access),
      recentSignInText(endpoint),
    ]
      .filter(Boolean)
      .join("\n\n"),
    ...(endpoint.deprecated === true ? { deprecated: true } : {}),
    parameters: [
      ...pathParameters(schemas, endpoint),
      ...objectParameters(schemas, "query", endpoint.query),
      ...objectParameters(schemas, "header", endpoint.headers),
    ],
    ...(endpoint.body === undefined ? {} : { requestBody: requestBody(schemas, endpoint.body) }),
    responses: responses(schemas, endpoint),
    ...(security === undefined ? {} : { security }),
  };
}

/** Replaces references to unnamed schemas by the schemas themselves, and lets others refer to components. */
function inline(value: unknown, rendered: Record<string, Json>): unknown {
  if (Array.isArray(value)) return value.map((item) => inline(item, rendered));
  if (typeof value !== "object" || value === null) return value;
  const { $ref: ref, ...rest } = value as Json;
  if (typeof ref === "string" && !ref.startsWith(failureUri(""))) {
    const id = ref.replace(/^.*\//, "");
    return id.startsWith("__inline_")
      ? inline({ ...rendered[id], ...rest }, rendered)
      : { ...rest, $ref: componentUri(id) };
  }
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, inline(item, rendered)]));
}

/** Facts of the document beside the endpoints. */
export interface DocumentInfo {
  version: string;
  /** Absolute base URL of the server. */
  serverUrl: string;
}

/** Writes the OpenAPI 3.1 document of these endpoints: operations sorted by path and method, components by name. */
export function openApiDocument(endpoints: Endpoints, info: DocumentInfo): Json {
  const schemas = new Schemas();
  const paths: Record<string, Json> = {};
  const sorted = Object.entries(endpoints).sort(([, a], [, b]) =>
    `${a.path} ${a.method}` < `${b.path} ${b.method}` ? -1 : 1,
  );
  for (const [id, endpoint] of sorted) {
    const path = `/api/v2${endpoint.path.replace("...}", "}")}`;
    paths[path] = { ...paths[path], [endpoint.method.toLowerCase()]: operation(schemas, id, endpoint) };
  }
  const commonFailures = failureComponents(schemas);
  const rendered = schemas.render();
  const components = Object.entries(rendered)
    .filter(([id]) => !id.startsWith("__inline_"))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    openapi: "3.1.0",
    info: {
      title: "Waybill API",
      version: "2.0",
      description: `What was built, from which commit, with which evidence, and what runs where. Server ${info.version}.`,
    },
    servers: [{ url: info.serverUrl }],
    security: [{ bearer: [] }, { basic: [] }, { session: [] }],
    tags: [...new Set(Object.values(endpoints).map(({ tag }) => tag))].sort().map((name) => ({ name })),
    paths: inline(paths, rendered),
    components: {
      schemas: inline(Object.fromEntries(components), rendered),
      responses: inline(commonFailures, rendered),
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer" },
        basic: { type: "http", scheme: "basic", description: "API key as user name, any password" },
        session: {
          type: "apiKey",
          in: "cookie",
          name: siteOf(info.serverUrl).cookie.name,
          description:
            "For pages of this server: the cookie counts only with `Sec-Fetch-Site: same-origin`, or the server's own `Origin`. `Authorization` wins over it.",
        },
        signature: { type: "apiKey", in: "header", name: "X-Quality-Webhook-HMAC-SHA256" },
      },
    },
  };
}
