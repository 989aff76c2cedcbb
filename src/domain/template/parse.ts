import { type ReadYaml, readYaml, YamlError, type YamlMapping, type YamlValue } from "../../lib/yaml.ts";
import { attestationNamePattern, maxNameLength, templateReferenceNamePattern } from "../names.ts";
import { TemplateError, type TemplateIssue } from "./errors.ts";
import {
  attestationTypes,
  customTypePattern,
  emptyTemplate,
  type Template,
  type TemplateArtifact,
  type TemplateAttestation,
} from "./model.ts";

/** Room for thousands of expectations. */
const limits = { maxLength: 128 * 1024, maxValues: 20_000 };

/** More mistakes than this help nobody. */
const maxIssues = 50;

type Path = TemplateIssue["path"];

const quoted = attestationTypes.map((type) => `'${type}'`);

const unknownType: TemplateIssue["reasons"] = [
  `Input should be ${quoted.slice(0, -1).join(", ")} or ${quoted.at(-1)}`,
  `String should match pattern '${customTypePattern.source}'`,
  "Input should be 'decision'",
  "Input should be '*'",
];

/** Plain data for a message: maps become objects. */
function plain(value: YamlValue | undefined): unknown {
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, item]) => [key, plain(item)]));
  return Array.isArray(value) ? value.map(plain) : value;
}

/** Whether a type is one that an attestation can be expected to have. */
function isTemplateType(type: string): boolean {
  if (type === "decision" || type === "*") return true;
  return (attestationTypes as readonly string[]).includes(type) || customTypePattern.test(type);
}

/** Reads a template part by part, noting every mistake and going on. */
class TemplateReader {
  readonly issues: TemplateIssue[] = [];
  readonly #strict: boolean;

  /** @param strict whether names of attestations have to be ones that reports can use. */
  constructor(strict: boolean) {
    this.#strict = strict;
  }

  root(value: YamlValue): Template {
    const root = this.#mapping(value, [], ["version", "trail"]);
    const version = root?.get("version");
    if (version !== undefined && version !== 1) this.#note(["version"], "Input should be 1", version);
    const trail = root?.get("trail");
    return trail === undefined || trail === null ? emptyTemplate() : this.#trail(trail);
  }

  #trail(value: YamlValue): Template {
    const trail = this.#mapping(value, ["trail"], ["attestations", "artifacts"]);
    const artifacts = this.#list(trail?.get("artifacts"), ["trail", "artifacts"], (item, path) =>
      this.#artifact(item, path),
    );
    this.#checkUnique(artifacts, ["trail", "artifacts"]);
    const attestations = this.#attestations(trail?.get("attestations"), ["trail", "attestations"]);
    return { version: 1, trail: { attestations, artifacts } };
  }

  #artifact(value: YamlValue, path: Path): TemplateArtifact {
    const artifact = this.#mapping(value, path, ["name", "attestations"]);
    if (artifact === undefined) return { name: "", attestations: [] };
    const name = this.#name(artifact, path);
    if (name !== "" && !templateReferenceNamePattern.test(name))
      this.#note(
        [...path, "name"],
        `String should match pattern '${templateReferenceNamePattern.source}'`,
        name,
      );
    return {
      name,
      attestations: this.#attestations(artifact.get("attestations"), [...path, "attestations"]),
    };
  }

  #attestations(value: YamlValue | undefined, path: Path): TemplateAttestation[] {
    const attestations = this.#list(value, path, (item, at) => this.#attestation(item, at));
    this.#checkUnique(attestations, path);
    return attestations;
  }

  #attestation(value: YamlValue, path: Path): TemplateAttestation {
    const attestation = this.#mapping(value, path, ["name", "type"]);
    if (attestation === undefined) return { name: "", type: "" };
    const name = this.#name(attestation, path);
    if (this.#strict && name !== "" && !attestationNamePattern.test(name))
      this.#note([...path, "name"], `String should match pattern '${attestationNamePattern.source}'`, name);
    const type = this.#text(attestation, path, "type");
    if (type !== undefined && (type.length > maxNameLength || !isTemplateType(type)))
      this.#note([...path, "type"], unknownType, type);
    return { name, type: type ?? "" };
  }

  #name(holder: YamlMapping, path: Path): string {
    const name = this.#text(holder, path, "name");
    if (name === undefined) return "";
    if (name.trim() === "")
      this.#note([...path, "name"], "Name must not be empty: String should have at least 1 character", name);
    if (name.length > maxNameLength)
      this.#note([...path, "name"], `String should have at most ${maxNameLength} characters`, name);
    return name.trim() === "" ? "" : name;
  }

  #text(holder: YamlMapping, path: Path, key: string): string | undefined {
    const value = holder.get(key);
    if (typeof value === "string") return value;
    this.#note(
      [...path, key],
      value === undefined ? "Field required" : "Input should be a valid string",
      value,
    );
    return undefined;
  }

  #mapping(value: YamlValue, path: Path, known: readonly string[]): YamlMapping | undefined {
    if (!(value instanceof Map)) {
      this.#note(path, "Input should be a valid dictionary", value);
      return undefined;
    }
    for (const [key, item] of value)
      if (!known.includes(key)) this.#note([...path, key], "Extra inputs are not permitted", item);
    return value;
  }

  #list<T>(value: YamlValue | undefined, path: Path, read: (item: YamlValue, path: Path) => T): T[] {
    if (value === undefined) return [];
    if (Array.isArray(value)) return value.map((item, index) => read(item, [...path, index]));
    this.#note(path, "Input should be a valid list", value);
    return [];
  }

  #checkUnique(items: readonly { name: string }[], path: Path): void {
    const seen = new Set<string>();
    for (const [index, { name }] of items.entries()) {
      if (name !== "" && seen.has(name))
        this.#note([...path, index, "name"], "Names must be unique within their list", name);
      seen.add(name);
    }
  }

  #note(path: Path, reason: string | TemplateIssue["reasons"], input: YamlValue | undefined): void {
    if (this.issues.length < maxIssues)
      this.issues.push({
        path,
        reasons: typeof reason === "string" ? [reason] : reason,
        input: plain(input),
      });
  }
}

/** Whether a template is given now, or was stored when attestations could have any name: it keeps what it expects. */
export type Origin = "new" | "stored";

/**
 * Reads a flow template, schema version 1: what a trail and its artifacts are expected to get.
 * @throws TemplateError, and nothing else, with every mistake in the text.
 */
export function parseTemplate(text: string, origin: Origin = "new"): Template {
  let value: YamlValue;
  try {
    value = readYaml(text, limits);
  } catch (error) {
    throw explained(error);
  }
  return templateOf(value, origin);
}

/** The same with the YAML, which takes longest, read elsewhere. @throws what `read` throws beside. */
export async function readTemplate(text: string, read: ReadYaml, origin: Origin = "new"): Promise<Template> {
  const value = await read(text, limits).catch((error: unknown) => {
    throw explained(error);
  });
  return templateOf(value, origin);
}

function templateOf(value: YamlValue, origin: Origin): Template {
  const reader = new TemplateReader(origin === "new");
  const template = reader.root(value);
  if (reader.issues.length > 0) throw new TemplateError(reader.issues);
  return template;
}

function explained(error: unknown): unknown {
  if (!(error instanceof YamlError)) return error;
  const place = error.line === undefined ? "" : ` (line ${error.line})`;
  return new TemplateError([
    { path: [], reasons: [`Invalid YAML: ${error.message}${place}`], input: undefined },
  ]);
}
