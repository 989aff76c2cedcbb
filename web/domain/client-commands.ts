import { type Body, deeds, type Flags, type Params, type Query } from "./client-deeds.ts";
import { type CommandPlace, continued, quoted } from "./commands.ts";
import { type Asking, type FormPart, queryPairs, type RequestInput } from "./requests.ts";

function bodyOf(json: unknown, parts: readonly FormPart[]): Body {
  const members = new Map<string, unknown>(
    typeof json === "object" && json !== null ? Object.entries(json) : [],
  );
  return {
    has: (name) => {
      const value = members.get(name);
      if (value === undefined || value === null) return false;
      return typeof value !== "object" || Object.keys(value).length > 0;
    },
    text: (name) => {
      const value = members.get(name);
      const isSaid = typeof value === "string" || typeof value === "number" || typeof value === "boolean";
      return isSaid && value !== "" ? String(value) : undefined;
    },
    list: (name) => {
      const value = members.get(name);
      return Array.isArray(value) ? value.map(String) : [];
    },
    files: parts.filter(({ file }) => file !== undefined),
  };
}

function paramsOf(params: RequestInput["params"]): Params {
  return Object.fromEntries(Object.entries(params ?? {}).map(([name, value]) => [name, String(value)]));
}

function queryOf(query: RequestInput["query"]): Query {
  const all: Record<string, string[]> = {};
  for (const [name, value] of queryPairs(query)) (all[name] ??= []).push(value);
  return all;
}

/** Says whether the client puts it into an address as it is: it escapes nothing. */
function isPlain(value: string, mayBePath: boolean): boolean {
  return !/[%?#\\]|^\.{1,2}$/.test(value) && (mayBePath || !value.includes("/"));
}

function flagWords(flags: Flags): string[] {
  return Object.entries(flags).flatMap(([name, value]) => {
    if (value === undefined || value === null || value === "" || value === false) return [];
    if (value === true) return [`--${name}`];
    const all = typeof value === "object" ? value : [String(value)];
    return all.map((one) => `--${name} ${quoted(one)}`);
  });
}

/** Writes files that a command reads. The mark at their end is one that they do not have. */
function fileCommands(files: readonly FormPart[]): string {
  return files.map(({ file = "file", text }) => `printf %s ${quoted(text)} > ${quoted(file)}\n`).join("");
}

/**
 * Writes the command of the command-line client that does what a request does; undefined where it has none that says the same,
 * such as for filters that it does not know.
 * @param json what is sent, or the JSON in the form that is sent.
 */
export function clientCommandOf(
  { server, org }: CommandPlace,
  { operation, input }: Asking,
  json?: unknown,
  parts: readonly FormPart[] = [],
): string | undefined {
  const deed = deeds[operation];
  if (deed === undefined) return undefined;
  const [params, query] = [paramsOf(input.params), queryOf(input.query)];
  const known = new Set([...Object.keys(deed.flags ?? {}), ...(deed.takes ?? []), "include"]);
  if (Object.keys(query).some((name) => !known.has(name))) return undefined;
  if (Object.entries(params).some(([name, value]) => !isPlain(value, name === "repo_name"))) return undefined;
  const said = deed.write(params, query, bodyOf(json, parts));
  if (said === undefined || said.about?.some((one) => one === "" || one.startsWith("-")) === true)
    return undefined;
  const given = Object.entries(deed.flags ?? {}).map(([name, flag]) => [flag, query[name] ?? []] as const);
  const words = [said.words, ...(said.about ?? []).map(quoted)].join(" ");
  const flags = flagWords({ ...Object.fromEntries(given), ...said.flags });
  return (
    fileCommands(said.files ?? []) +
    continued([
      `kosli ${words}`,
      ...flags,
      ...(deed.isRead === true ? ["--output json"] : []),
      `--host ${quoted(server)} --org ${quoted(org)} --api-token "$WAYBILL_KEY"`,
    ])
  );
}
