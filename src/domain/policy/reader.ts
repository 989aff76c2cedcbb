import { isStorable } from "../../lib/json.ts";
import type { YamlMapping, YamlValue } from "../../lib/yaml.ts";
import type { PolicyIssue } from "./errors.ts";

export type Path = PolicyIssue["path"];
export type YamlInput = YamlValue | undefined;

/** More mistakes than this help nobody. */
const maxIssues = 50;

/** Plain data for a message: maps become objects. */
function plain(value: YamlInput): unknown {
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, item]) => [key, plain(item)]));
  return Array.isArray(value) ? value.map(plain) : value;
}

/** Takes YAML apart by what is expected of it, noting every mistake and going on with a default. */
export class Reader {
  readonly issues: PolicyIssue[] = [];

  note(path: Path, reason: string, input: YamlInput): void {
    if (this.issues.length < maxIssues) this.issues.push({ path, reason, input: plain(input) });
  }

  /** The mapping, when it is one. Every key that is not known is a mistake. */
  mapping(value: YamlInput, path: Path, known: readonly string[]): YamlMapping {
    if (!(value instanceof Map)) {
      this.note(path, "Input should be a valid dictionary", value);
      return new Map();
    }
    for (const [key, item] of value)
      if (!known.includes(key)) this.note([...path, key], "Extra inputs are not permitted", item);
    return value;
  }

  list<T>(value: YamlInput, path: Path, read: (item: YamlValue, path: Path) => T): T[] {
    if (value === undefined) return [];
    if (Array.isArray(value)) return value.map((item, index) => read(item, [...path, index]));
    this.note(path, "Input should be a valid list", value);
    return [];
  }

  boolean(value: YamlInput, path: Path, byDefault: boolean): boolean {
    if (value === undefined || typeof value === "boolean") return value ?? byDefault;
    this.note(path, "Input should be a valid boolean", value);
    return byDefault;
  }

  /** A text of at most `maxLength` UTF-16 units; undefined, and a mistake, when it is none. */
  text(value: YamlInput, path: Path, maxLength: number): string | undefined {
    if (value === undefined) this.note(path, "Field required", value);
    else if (typeof value !== "string") this.note(path, "Input should be a valid string", value);
    else if (value.length > maxLength)
      this.note(path, `String should have at most ${maxLength} characters`, value);
    else if (!isStorable(value))
      this.note(
        path,
        "Text must not contain NUL or unpaired surrogates",
        value.replaceAll("\0", "").toWellFormed(),
      );
    else return value;
    return undefined;
  }
}
