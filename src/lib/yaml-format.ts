import { isStorable } from "./json.ts";
import {
  type ReadYaml,
  readYaml,
  YamlError,
  type YamlLimits,
  type YamlMapping,
  type YamlValue,
} from "./yaml.ts";

/** Keys and indexes from the root of a document; empty for the document as a whole. */
export type Path = readonly (string | number)[];

/** What would have been right. Several when there are alternatives and none of them fits. */
export type Reasons = readonly [string, ...string[]];

/** One mistake in a document. */
export interface FormatIssue {
  path: Path;
  reasons: Reasons;
  /** What stands there instead; undefined when nothing does. */
  input: unknown;
}

/** A document that does not have its format, with every mistake up to a limit. */
export class FormatError extends Error {
  readonly issues: readonly FormatIssue[];
  constructor(message: string, issues: readonly FormatIssue[]) {
    super(message);
    this.issues = issues;
  }
}

export type JsonSchema = Readonly<Record<string, unknown>>;

/** Part of a document: how it is read, and how its JSON Schema describes it. Neither is written down elsewhere. */
export interface Format<T> {
  /**
   * Reads a value, undefined where nothing stands, and notes every mistake. What it answers is meant for checks beside it
   * while there are mistakes: undefined then means that nothing can be said.
   */
  read(value: YamlValue | undefined, place: Place): T | undefined;
  schema: JsonSchema;
  /** Schemas that `schema` refers to as `#/$defs/<name>`. */
  definitions?: Readonly<Record<string, JsonSchema>> | undefined;
  /** Whether a mapping has to have it. */
  required?: boolean;
}

/** More mistakes than this help nobody. */
const maxIssues = 50;

/** Reading on would take too long. */
class GivenUp extends Error {}

/** Makes plain data for a message: maps become objects. */
function plain(value: YamlValue | undefined): unknown {
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, item]) => [key, plain(item)]));
  return Array.isArray(value) ? value.map(plain) : value;
}

/** A place in a document, where mistakes are noted. */
export class Place {
  readonly path: Path;
  readonly #issues: FormatIssue[];

  /** @param issues all mistakes of the document, in the order in which they are found. */
  constructor(path: Path, issues: FormatIssue[]) {
    this.path = path;
    this.#issues = issues;
  }

  /** Finds the place of a key or an index in this one. */
  at(part: string | number): Place {
    return new Place([...this.path, part], this.#issues);
  }

  /** Notes a mistake. @param input what stands there; undefined when nothing does. */
  note(reason: string | Reasons, input: YamlValue | undefined): void {
    if (this.#issues.length < maxIssues) this.#add(reason, input);
  }

  /** Notes a mistake after which nothing more is read, however many there are. */
  giveUp(reason: string, input: YamlValue | undefined): never {
    this.#add(reason, input);
    throw new GivenUp();
  }

  #add(reason: string | Reasons, input: YamlValue | undefined): void {
    const reasons: Reasons = typeof reason === "string" ? [reason] : reason;
    this.#issues.push({ path: this.path, reasons, input: plain(input) });
  }
}

/** A rule that a text has to keep. */
export interface TextRule {
  /** Says what is wrong; undefined when nothing is. */
  problem(text: string): string | Reasons | undefined;
  /** Keywords of JSON Schema that say as much. Without them the rule is not published. */
  schema?: JsonSchema;
  /** Whether a text that breaks the rule is no text for whatever would look at it next. */
  final?: boolean;
  /** Changes a text so that messages can show it. */
  show?(text: string): string;
}

/** Demands that the database can store a text. */
export const storable: TextRule = {
  problem: (value) => (isStorable(value) ? undefined : "Text must not contain NUL or unpaired surrogates"),
  final: true,
  show: (value) => value.replaceAll("\0", "").toWellFormed(),
};

/** Demands at most so many UTF-16 units. */
export function atMost(maxLength: number): TextRule {
  const reason = `String should have at most ${maxLength} characters`;
  return { problem: (value) => (value.length > maxLength ? reason : undefined), schema: { maxLength } };
}

/** Demands a pattern, which messages quote. */
export function matching(pattern: RegExp): TextRule {
  const reason = `String should match pattern '${pattern.source}'`;
  return {
    problem: (value) => (pattern.test(value) ? undefined : reason),
    schema: { pattern: pattern.source },
  };
}

function readText(
  value: YamlValue | undefined,
  place: Place,
  rules: readonly TextRule[],
): string | undefined {
  if (typeof value !== "string") {
    place.note(value === undefined ? "Field required" : "Input should be a valid string", value);
    return undefined;
  }
  for (const { problem, final, show } of rules) {
    const reason = problem(value);
    if (reason === undefined) continue;
    place.note(reason, show?.(value) ?? value);
    if (final) return undefined;
  }
  return value;
}

/** Describes a text. With a default it may be left out; where that is null, it may be null as well. */
export function text<Default extends string | null = never>(options: {
  description?: string;
  default?: Default;
  rules: readonly TextRule[];
}): Format<string | NoInfer<Default>> {
  const { default: byDefault, description, rules } = options;
  return {
    read(value, place) {
      if (byDefault !== undefined && (value === undefined || value === byDefault)) return byDefault;
      return readText(value, place, rules);
    },
    schema: {
      type: byDefault === null ? ["string", "null"] : "string",
      ...(byDefault !== undefined && { default: byDefault }),
      ...(description !== undefined && { description }),
      ...Object.assign({}, ...rules.map(({ schema }) => schema)),
    },
    required: byDefault === undefined,
  };
}

/** Describes `true` or `false`, one of which is meant when it is left out. */
export function boolean(options: { description: string; default: boolean }): Format<boolean> {
  return {
    read(value, place) {
      if (value === undefined || typeof value === "boolean") return value ?? options.default;
      place.note("Input should be a valid boolean", value);
      return undefined;
    },
    schema: { type: "boolean", ...options },
  };
}

/** Describes a whole number that can have one value only, and may be left out. */
export function constant<T extends number>(only: T, description: string): Format<T> {
  return {
    read(value, place) {
      if (value !== undefined && value !== only) place.note(`Input should be ${only}`, value);
      return only;
    },
    schema: { type: "integer", const: only, default: only, description },
  };
}

/** Describes a list, which is empty when it is left out. */
export function list<T>(
  item: Format<T>,
  options: {
    description?: string;
    /** Checks the items together. */
    check?: (items: readonly (NoInfer<T> | undefined)[], place: Place) => void;
  } = {},
): Format<T[]> {
  const { description, check } = options;
  return {
    read(value, place) {
      if (value === undefined) return [];
      if (!Array.isArray(value)) {
        place.note("Input should be a valid list", value);
        return undefined;
      }
      const items = value.map((each, index) => item.read(each, place.at(index)));
      check?.(items, place);
      return items as T[];
    },
    schema: {
      type: "array",
      default: [],
      items: item.schema,
      ...(description !== undefined && { description }),
    },
    definitions: item.definitions,
  };
}

type Fields = Readonly<Record<string, Format<unknown>>>;
type ValuesOf<F extends Fields> = { [Key in keyof F]: F[Key] extends Format<infer T> ? T : never };

interface MappingOptions<F extends Fields> {
  /** What JSON Schema calls it. */
  name: string;
  description?: string;
  /** In the order in which they are read. */
  fields: F;
  /** Called before anything of it is read, whatever stands there. */
  begin?: (place: Place) => void;
  /** Checks of several fields together, by the field after which they are made. */
  checks?: {
    [Key in keyof F]?: (read: Partial<ValuesOf<F>>, place: Place, mapping: YamlMapping) => void;
  };
  /** Keywords of JSON Schema that say what the checks do. */
  schema?: JsonSchema;
}

const noEntries: YamlMapping = new Map();

function mappingSchema<F extends Fields>({ description, fields, schema }: MappingOptions<F>): JsonSchema {
  const required = Object.keys(fields).filter((key) => fields[key]?.required);
  return {
    type: "object",
    ...(description !== undefined && { description }),
    additionalProperties: false,
    ...(required.length > 0 && { required }),
    properties: Object.fromEntries(Object.entries(fields).map(([key, field]) => [key, field.schema])),
    ...schema,
  };
}

/** Describes a mapping. Left out, it is one without entries; every key that is not a field is a mistake. */
export function mapping<F extends Fields>(options: MappingOptions<F>): Format<ValuesOf<F>> {
  const { name, fields, begin, checks } = options;
  return {
    read(value = noEntries, place) {
      begin?.(place);
      if (!(value instanceof Map)) {
        place.note("Input should be a valid dictionary", value);
        return undefined;
      }
      for (const [key, item] of value)
        if (!Object.hasOwn(fields, key)) place.at(key).note("Extra inputs are not permitted", item);
      const read: Partial<ValuesOf<F>> = {};
      for (const [key, field] of Object.entries(fields) as [keyof F & string, F[string]][]) {
        read[key] = field.read(value.get(key), place.at(key)) as ValuesOf<F>[typeof key];
        checks?.[key]?.(read, place, value);
      }
      return read as ValuesOf<F>;
    },
    schema: { $ref: `#/$defs/${name}` },
    definitions: Object.assign(
      { [name]: mappingSchema(options) },
      ...Object.values(fields).map(({ definitions }) => definitions),
    ),
    required: Object.values(fields).some(({ required }) => required),
  };
}

/** Says of a part what it is where it stands. */
export function described<T>(format: Format<T>, description: string): Format<T> {
  return { ...format, schema: { ...format.schema, description } };
}

/** Lets null stand for a mapping that was left out. */
export function orNull<T>(format: Format<T>, options: { default: T; description: string }): Format<T> {
  return {
    read: (value, place) => format.read(value ?? undefined, place),
    schema: { anyOf: [format.schema, { type: "null" }], ...options },
    definitions: format.definitions,
  };
}

/** A kind of YAML file. */
export interface DocumentFormat<T> {
  /** A mapping. */
  root: Format<T>;
  limits: YamlLimits;
  /** What reading throws. */
  error: new (issues: readonly FormatIssue[]) => FormatError;
}

function readValue<T>({ root, error }: DocumentFormat<T>, value: YamlValue): T {
  const issues: FormatIssue[] = [];
  try {
    const read = root.read(value, new Place([], issues));
    if (issues.length === 0) return read as T;
  } catch (thrown) {
    if (!(thrown instanceof GivenUp)) throw thrown;
  }
  throw new error(issues);
}

function explained({ error }: DocumentFormat<unknown>, thrown: unknown): unknown {
  if (!(thrown instanceof YamlError)) return thrown;
  const place = thrown.line === undefined ? "" : ` (line ${thrown.line})`;
  return new error([{ path: [], reasons: [`Invalid YAML: ${thrown.message}${place}`], input: undefined }]);
}

/** Reads a document. @throws the format's error, and nothing else. */
export function parseDocument<T>(format: DocumentFormat<T>, source: string): T {
  let value: YamlValue;
  try {
    value = readYaml(source, format.limits);
  } catch (error) {
    throw explained(format, error);
  }
  return readValue(format, value);
}

/** Reads a document, its YAML, which takes longest, by other means. @throws what `read` throws beside. */
export async function readDocument<T>(format: DocumentFormat<T>, source: string, read: ReadYaml): Promise<T> {
  const value = await read(source, format.limits).catch((error: unknown) => {
    throw explained(format, error);
  });
  return readValue(format, value);
}

/**
 * Describes a document as JSON Schema 2020-12, for editors.
 * @param about where the schema is served, and what it says of itself.
 */
export function documentSchema(
  { root }: DocumentFormat<unknown>,
  about: { $id: string; title: string; description: string },
): JsonSchema {
  const name = String(root.schema["$ref"]).replace("#/$defs/", "");
  const { [name]: own, ...$defs } = root.definitions ?? {};
  return { $schema: "https://json-schema.org/draft/2020-12/schema", ...about, ...own, $defs };
}

/** Shows a path as `trail.artifacts[0].name`; the root is empty. */
export function showPath(path: Path): string {
  return path.reduce<string>((shown, part) => {
    if (typeof part === "number") return `${shown}[${part}]`;
    return shown === "" ? part : `${shown}.${part}`;
  }, "");
}
