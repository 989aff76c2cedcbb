import { endOfEntry, findEntry, yamlEntries, type YamlPath } from "./yaml-places.ts";

/** What a policy begins with. */
export const policyStart = `_schema: https://kosli.com/schemas/policy/environment/v1
artifacts:
  provenance:
    required: true
`;

/** A rule that a form can write; conditions stand without their braces. */
export type PolicyRule =
  | { kind: "provenance" | "trail-compliance"; except?: string | undefined }
  | {
      kind: "attestation";
      /** `*` for any. */
      type: string;
      /** Any unless given. */
      name?: string | undefined;
      onlyIf?: string | undefined;
      for_control?: string | undefined;
      /** Whether it is enough that it is there. */
      isEnough?: boolean | undefined;
    };

const inQuotes = (text: string): string =>
  `"${text.replaceAll("\\", String.raw`\\`).replaceAll('"', String.raw`\"`)}"`;

/** Writes the condition that an artifact's name begins like this. */
export function nameBegins(beginning: string): string {
  const pattern = `^${beginning.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)}`;
  // A backslash before anything but a quote or a backslash stands for itself; before the end there is a quote.
  const written = pattern.replaceAll(/\\(?=[\\"']|$)/g, String.raw`\\`).replaceAll('"', String.raw`\"`);
  return `matches(artifact.name, "${written}")`;
}

/** Writes the condition that a flow is the one of this name. */
export function flowIs(name: string): string {
  return `flow.name == ${inQuotes(name)}`;
}

/** Writes the condition that a flow is tagged like this; key and value, or the key alone. */
export function flowTagged(tag: string): string {
  const [key = "", ...value] = tag.split(/[:=]/);
  const name = `flow.tags.${key.trim()}`;
  return value.length === 0 ? `exists(${name})` : `${name} == ${inQuotes(value.join(":").trim())}`;
}

const single = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** Writes a text as YAML has it: plain where it is nothing else then. */
function scalar(text: string): string {
  return /^[A-Za-z][\w./-]*(?::[\w./-]+)*$/.test(text) && !/^(?:true|false|null|yes|no|on|off)$/i.test(text)
    ? text
    : single(text);
}

function condition(text: string): string {
  const wrapped = `\${{ ${text} }}`;
  return /: | #|[\n\t]/.test(wrapped) ? single(wrapped) : wrapped;
}

function attestationLines(rule: Extract<PolicyRule, { kind: "attestation" }>): string[] {
  const { type, name, onlyIf, for_control, isEnough } = rule;
  const lines = [`type: ${scalar(type)}`];
  if (name !== undefined && name !== "") lines.push(`name: ${scalar(name)}`);
  if (for_control !== undefined && for_control !== "") lines.push(`for_control: ${scalar(for_control)}`);
  if (onlyIf !== undefined) lines.push(`if: ${condition(onlyIf)}`);
  if (isEnough === true) lines.push("must_be_compliant: false");
  return lines.map((line, index) => (index === 0 ? `- ${line}` : `  ${line}`));
}

interface Spot {
  /** Line before which something is put in. */
  line: number;
  /** Spaces before what is put in there. */
  indent: number;
}

/** Finds where a part ends: behind its last line that is not empty. Undefined when it has its value on its own line. */
function spotIn(text: string, path: YamlPath): Spot | undefined {
  const entries = yamlEntries(text);
  const { index, depth } = findEntry(entries, path);
  const own = index === undefined ? undefined : entries[index];
  if (own === undefined || index === undefined || depth < path.length) return undefined;
  if (own.rest !== "" && !own.rest.startsWith("#")) return undefined;
  const end = endOfEntry(entries, index);
  const lines = text.split("\n");
  let line = entries[end]?.line ?? lines.length;
  while (line > own.line + 1 && /^\s*(?:#.*)?$/.test(lines[line - 1] ?? "")) line -= 1;
  const child = entries[index + 1];
  return { line, indent: child !== undefined && end > index + 1 ? child.indent : own.indent + 2 };
}

const has = (text: string, path: YamlPath): boolean =>
  findEntry(yamlEntries(text), path).depth === path.length;

function insert(text: string, { line, indent }: Spot, added: readonly string[]): string {
  const lines = text.split("\n");
  const written = added.map((one) => " ".repeat(indent) + one);
  return [...lines.slice(0, line), ...written, ...lines.slice(line)].join("\n");
}

/** Puts lines into a part, which is made where it is not there. */
function addTo(text: string, path: YamlPath, added: readonly string[]): string | undefined {
  if (has(text, path)) {
    const spot = spotIn(text, path);
    return spot === undefined ? undefined : insert(text, spot, added);
  }
  const [name, parents] = [String(path.at(-1)), path.slice(0, -1)];
  const block = [`${name}:`, ...added.map((line) => `  ${line}`)];
  if (parents.length > 0) return addTo(text, parents, block);
  const whole = text === "" || text.endsWith("\n") ? text : `${text}\n`;
  return `${whole}${block.join("\n")}\n`;
}

function withRequired(text: string, path: YamlPath): string | undefined {
  const entries = yamlEntries(text);
  const { index, depth } = findEntry(entries, [...path, "required"]);
  const own = entries[index ?? -1];
  if (own === undefined || depth <= path.length) return addTo(text, path, ["required: true"]);
  const lines = text.split("\n");
  const written = lines[own.line] ?? "";
  const before = written.slice(0, own.rest === "" ? written.length : written.lastIndexOf(own.rest));
  lines[own.line] = `${before.trimEnd()} ${own.rest === "" ? "true" : own.rest.replace(/^[^\s#]*/, "true")}`;
  return lines.join("\n");
}

/**
 * Adds a rule to the text of a policy and leaves the rest as it was written.
 * @returns undefined when the text is written in a way that only its author can add to.
 */
export function withRule(text: string, rule: PolicyRule): string | undefined {
  if (rule.kind === "attestation") return addTo(text, ["artifacts", "attestations"], attestationLines(rule));
  const path = ["artifacts", rule.kind];
  const required = withRequired(text, path);
  if (required === undefined || rule.except === undefined) return required;
  return addTo(required, [...path, "exceptions"], [`- if: ${condition(rule.except)}`]);
}
