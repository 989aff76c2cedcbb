import type { FormPart } from "./requests.ts";

/** Flags of the client; those with several values are given once for each, and those with none are left out. */
export type Flags = Readonly<
  Record<string, string | number | boolean | readonly string[] | null | undefined>
>;

/** A command of the client: its words with what it is about, its flags, and files that have to be there. */
interface ClientWords {
  words: string;
  about?: readonly string[];
  flags?: Flags;
  files?: readonly FormPart[];
}

export type Params = Readonly<Record<string, string>>;
export type Query = Readonly<Record<string, readonly string[]>>;

/** How the client does what an operation does. */
interface Deed {
  /** @returns undefined where it cannot say that. */
  write: (params: Params, query: Query, body: Body) => ClientWords | undefined;
  /** Parameters that the client has flags for: name of the parameter, name of the flag. */
  flags?: Readonly<Record<string, string>>;
  /** Further parameters that `write` takes care of. */
  takes?: readonly string[];
  /** It prints what the server answered when asked to. */
  isRead?: boolean;
}

/** What is sent. */
export interface Body {
  /** A text or a number out of what is sent; undefined where it is neither, or empty. */
  text: (name: string) => string | undefined;
  /** Says whether it is there; what has nothing in it is not. */
  has: (name: string) => boolean;
  list: (name: string) => readonly string[];
  files: readonly FormPart[];
}

const pages = { page: "page", per_page: "page-limit" } as const;

/** Writes an element of a flag that takes several, apart by commas. */
function element(text: string): string {
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Writes a snapshot as the client names it; undefined where its signs are part of the environment's name. */
function snapshotName(env: string, expression: string): string | undefined {
  if (/[~@#]/.test(env)) return undefined;
  if (expression === "-1") return env;
  if (/^\d+$/.test(expression)) return `${env}#${expression}`;
  if (/^-\d+$/.test(expression)) return `${env}~${-Number(expression) - 1}`;
  return /^[~@#]/.test(expression) ? `${env}${expression}` : undefined;
}

const byName = (words: string, param: string): Deed => ({
  isRead: true,
  write: (params) => ({ words, about: [params[param] ?? ""] }),
});

const list = (words: string, flags: Readonly<Record<string, string>> = pages): Deed => ({
  isRead: true,
  flags,
  write: () => ({ words }),
});

const about = (words: string, param: string): Deed => ({
  write: (params) => ({ words, about: [params[param] ?? ""] }),
});

const policyOf = (words: string): Deed => ({
  write: ({ env_name }, _query, body) => {
    const [policy, ...more] = body.list("policy_names");
    if (policy === undefined || more.length > 0) return undefined;
    return { words, about: [policy], flags: { environment: [element(env_name ?? "")] } };
  },
});

const accountFlags = (body: Body): Flags => ({
  description: body.text("description"),
  privilege: body.text("privilege"),
});

/** What the client can do, by operation. Answers that `include` more are asked for without by it, and are the same else. */
export const deeds: Readonly<Record<string, Deed>> = {
  "GET /environments/{org}": {
    isRead: true,
    flags: { ...pages, name: "name", sort: "sort", sort_direction: "sort-direction", tag: "tag" },
    takes: ["type", "space_id"],
    write: (_params, { type = [], space_id = [] }) => ({
      words: "list environments",
      flags: { type: type.map(element), "space-id": space_id.map(element) },
    }),
  },
  "GET /environments/{org}/{env_name}": byName("get environment", "env_name"),
  "GET /environments/{org}/{env_name}/events": {
    isRead: true,
    flags: { ...pages, start_ts: "start-ts", end_ts: "end-ts" },
    takes: ["repo_name"],
    write: ({ env_name = "" }, { repo_name = [] }) =>
      /[~@#]/.test(env_name)
        ? undefined
        : { words: "log environment", about: [env_name], flags: { repo: repo_name.map(element) } },
  },
  "GET /snapshots/{org}/{env_name}/{snapshot_expression}": {
    isRead: true,
    // The page gives up on an answer that is too long for it; the client takes any.
    takes: ["rules", "max_artifacts"],
    write: ({ env_name = "", snapshot_expression = "" }) => {
      const name = snapshotName(env_name, snapshot_expression);
      return name === undefined ? undefined : { words: "get snapshot", about: [name] };
    },
  },
  "GET /snapshots/{org}/{env_name}": {
    isRead: true,
    flags: pages,
    write: ({ env_name = "" }) =>
      /[~@#]/.test(env_name) ? undefined : { words: "list snapshots", about: [env_name] },
  },
  "GET /env-diff/{org}": {
    isRead: true,
    takes: ["snappish1", "snappish2"],
    write: (_params, { snappish1 = [], snappish2 = [] }) => ({
      words: "diff snapshots",
      about: [...snappish1, ...snappish2],
    }),
  },
  "GET /flows/{org}": {
    isRead: true,
    flags: { ...pages, search_by_name: "name" },
    takes: ["case_sensitive"],
    write: (_params, { search_by_name, case_sensitive }) => ({
      words: "list flows",
      flags: { "ignore-case": search_by_name !== undefined && case_sensitive?.[0] === "false" },
    }),
  },
  "GET /flows/{org}/{flow_name}": byName("get flow", "flow_name"),
  "GET /trails/{org}": list("list trails", {
    ...pages,
    flow: "flow",
    fingerprint: "fingerprint",
    flow_tag: "flow-tag",
  }),
  "GET /trails/{org}/{flow_name}/{trail_name}": {
    isRead: true,
    write: ({ flow_name, trail_name = "" }) => ({
      words: "get trail",
      about: [trail_name],
      flags: { flow: flow_name },
    }),
  },
  "GET /artifacts/{org}": list("list artifacts", { ...pages, flow_name: "flow", repo_name: "repo" }),
  "GET /artifacts/{org}/{flow_name}/fingerprint/{fingerprint}": {
    isRead: true,
    flags: { trail: "trail" },
    write: ({ flow_name = "", fingerprint = "" }) =>
      /[@:]/.test(flow_name) ? undefined : { words: "get artifact", about: [`${flow_name}@${fingerprint}`] },
  },
  "GET /attestations/{org}": {
    isRead: true,
    takes: ["attestation_id"],
    write: (_params, { attestation_id: ids = [] }) =>
      ids.length === 1 ? { words: "get attestation", flags: { "attestation-id": ids } } : undefined,
  },
  "GET /search/{org}/sha/{search_value}": byName("search", "search_value"),
  "GET /asserts/{org}/fingerprint/{fingerprint}": {
    isRead: true,
    flags: { environment_name: "environment" },
    takes: ["policy_name", "flow_name"],
    write: ({ fingerprint }, { policy_name = [], flow_name = [] }) =>
      flow_name.length > 1
        ? undefined
        : {
            words: "assert artifact",
            flags: { fingerprint, flow: flow_name, policy: policy_name.map(element) },
          },
  },
  "GET /policies/{org}": list("list policies", {}),
  "GET /policies/{org}/{policy_name}": byName("get policy", "policy_name"),
  "GET /custom-attestation-types/{org}": list("list attestation-types", {}),
  "GET /custom-attestation-types/{org}/{custom_attestation_type_name}": byName(
    "get attestation-type",
    "custom_attestation_type_name",
  ),
  "GET /repos/{org}": list("list repos", {
    ...pages,
    name: "name",
    search: "search",
    provider: "provider",
    tag: "tag",
  }),
  "GET /repos/{org}/{repo_name...}": {
    isRead: true,
    takes: ["id"],
    write: ({ repo_name = "" }, { id }) =>
      id === undefined
        ? { words: "get repo", about: [repo_name] }
        : { words: "get repo", flags: { "repo-id": id } },
  },
  "GET /controls/{org}": list("list controls", {
    ...pages,
    search: "search",
    tag: "tag",
    sort_direction: "sort-direction",
  }),
  "GET /controls/{org}/{identifier}": byName("get control", "identifier"),
  "GET /service-accounts/{org}": list("list service-accounts", {}),
  "GET /service-accounts/{org}/{name}": byName("get service-account", "name"),
  "GET /service-accounts/{org}/{name}/api-keys": {
    isRead: true,
    write: ({ name }) => ({ words: "list api-keys", flags: { "service-account": name } }),
  },

  "PUT /environments/{org}/{env_name}/rename": {
    write: ({ env_name = "" }, _query, body) => ({
      words: "rename environment",
      about: [env_name, body.text("new_name") ?? ""],
    }),
  },
  "PUT /environments/{org}/{env_name}/archive": about("archive environment", "env_name"),
  "POST /environments/{org}/{env_name}/policies": policyOf("attach-policy"),
  "DELETE /environments/{org}/{env_name}/policies": policyOf("detach-policy"),
  "PUT /flows/{org}/{flow_name}/rename": {
    write: ({ flow_name = "" }, _query, body) => ({
      words: "rename flow",
      about: [flow_name, body.text("new_name") ?? ""],
    }),
  },
  "PUT /flows/{org}/{flow_name}/archive": about("archive flow", "flow_name"),
  "PUT /allowlists/{org}/{env_name}": {
    write: ({ env_name }, _query, body) => ({
      words: "allow artifact",
      about: [body.text("artifact_name") ?? ""],
      flags: {
        environment: env_name,
        fingerprint: body.text("artifact_fingerprint"),
        reason: body.text("description"),
      },
    }),
  },
  "PUT /policies/{org}": {
    write: (_params, _query, body) => ({
      words: "create policy",
      about: [body.text("name") ?? "", "policy.yaml"],
      flags: { description: body.text("description"), comment: body.text("comment") },
      files: body.files.map(({ text }) => ({ name: "policy_file", text, file: "policy.yaml" })),
    }),
  },
  "PUT /custom-attestation-types/{org}/{custom_attestation_type_name}/archive": about(
    "archive attestation-type",
    "custom_attestation_type_name",
  ),
  "POST /controls/{org}": {
    write: (_params, _query, body) =>
      body.has("links")
        ? undefined
        : {
            words: "create control",
            about: [body.text("identifier") ?? ""],
            flags: { name: body.text("name"), description: body.text("description") },
          },
  },
  "POST /controls/{org}/{identifier}/archive": about("archive control", "identifier"),
  "POST /controls/{org}/{identifier}/unarchive": about("unarchive control", "identifier"),
  "POST /service-accounts/{org}": {
    write: (_params, _query, body) => ({
      words: "create service-account",
      about: [body.text("name") ?? ""],
      flags: accountFlags(body),
    }),
  },
  "PATCH /service-accounts/{org}/{name}": {
    // It takes no empty description, and leaves the old one then.
    write: ({ name = "" }, _query, body) =>
      body.has("description") && body.text("description") === undefined
        ? undefined
        : { words: "update service-account", about: [name], flags: accountFlags(body) },
  },
  "DELETE /service-accounts/{org}/{name}": about("delete service-account", "name"),
  "POST /service-accounts/{org}/{name}/api-keys": {
    write: ({ name }, _query, body) => ({
      words: "create api-key",
      flags: {
        "service-account": name,
        description: body.text("description"),
        "expires-at": body.text("expires_at") === "0" ? undefined : body.text("expires_at"),
      },
    }),
  },
  "POST /service-accounts/{org}/{name}/api-keys/{key_id}/rotate": {
    write: ({ name, key_id = "" }, _query, body) => ({
      words: "rotate api-key",
      about: [key_id],
      flags: { "service-account": name, "grace-period-hours": body.text("grace_period_hours") },
    }),
  },
  "DELETE /service-accounts/{org}/{name}/api-keys/{key_id}": {
    write: ({ name, key_id = "" }) => ({
      words: "delete api-key",
      about: [key_id],
      flags: { "service-account": name },
    }),
  },
  "POST /attestations/{org}/{flow_name}/trail/{trail_name}/override": {
    write: ({ flow_name, trail_name }, _query, body) => ({
      words: "attest override",
      flags: {
        flow: flow_name,
        trail: trail_name,
        name: body.text("attestation_name"),
        fingerprint: body.text("artifact_fingerprint"),
        reason: body.text("reason"),
        // It takes its value after a sign of equality alone.
        [`new-compliance-status=${body.text("new_compliance_status") ?? ""}`]: true,
        "original-attestation-type": body.text("original_attestation_type"),
      },
    }),
  },
};
