import {
  Composer,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Document,
  type ParsedNode,
  Parser,
  Lexer,
} from "yaml";
import type { CST } from "yaml";

/** Why a text was not accepted as YAML. */
export class YamlError extends Error {
  /** Line of the text, from 1, when the trouble has a place. */
  readonly line: number | undefined;
  /** Character of that line, from 1. */
  readonly column: number | undefined;
  constructor(reason: string, place?: { line: number | undefined; column: number | undefined }) {
    super(reason);
    this.line = place?.line;
    this.column = place?.column;
  }
}

/** A place in a text, for its author. */
export interface TextPlace {
  /** From 1. */
  line: number;
  /** Character of the line, from 1. */
  column: number;
}

/** A value of a YAML text. Mappings are maps, so that no key can touch a prototype. */
export type YamlValue = null | boolean | number | string | YamlValue[] | YamlMapping;
export type YamlMapping = Map<string, YamlValue>;

export interface YamlLimits {
  /** UTF-16 units of the text. */
  maxLength: number;
  /** Values in the document, each alias counting as much as what it stands for. */
  maxValues: number;
}

/** Reads a text in another thread, while other things go on. Fails as `readYaml` does. */
export type ReadYaml = (text: string, limits: YamlLimits) => Promise<YamlValue>;

const maxDepth = 32;

/** YAML 1.2 core, whatever the text's `%YAML` directive says: no merge keys, no tags but the plain ones. */
const composeOptions = {
  schema: "core",
  version: "1.2",
  merge: false,
  resolveKnownTags: false,
  prettyErrors: false,
  // Checked here instead, in linear time.
  uniqueKeys: false,
} as const;

/** Finds the place of an offset in a text. */
export function placeAt(text: string, offset: number): TextPlace {
  let line = 1;
  let begin = 0;
  for (let at = text.indexOf("\n"); at !== -1 && at < offset; at = text.indexOf("\n", at + 1)) {
    line += 1;
    begin = at + 1;
  }
  return { line, column: Array.from(text.slice(begin, offset)).length + 1 };
}

/** Shortens a message of the parser, which may quote all of the text. */
function shorten(message: string): string {
  return message.length > 200 ? `${message.slice(0, 200)}…` : message;
}

/** Splits a text into tokens. Stops as soon as collections nest too deep, long before anything recurses over them. */
function tokenize(text: string): CST.Token[] {
  const parser = new Parser();
  const tokens: CST.Token[] = [];
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) {
      // The first error is enough; a text may hold one for each of its characters.
      if (token.type === "error") throw new YamlError(shorten(token.message), placeAt(text, token.offset));
      tokens.push(token);
    }
    if (parser.stack.length > maxDepth + 4)
      throw new YamlError(`Nesting is deeper than ${maxDepth} levels`, placeAt(text, parser.offset));
  }
  for (const token of parser.end()) tokens.push(token);
  return tokens;
}

/**
 * Makes a composer that gives up at the first error or warning. Left alone it would make an error for every character of some
 * texts, which takes long. Warnings are about unknown tags, here as wrong as anything else.
 */
function createComposer(text: string): Composer {
  const composer = new Composer(composeOptions);
  // Collections report what was thrown inside them once more, with their own place: the first has the best one.
  let first: YamlError | undefined;
  const onError = (source: ErrorSource, _code: string, message: string): never => {
    first ??= new YamlError(shorten(message), placeAt(text, offsetOf(source)));
    throw first;
  };
  return Object.assign(composer, { onError });
}

/** Place that the composer gives for an error: an offset, a range, or a token. */
type ErrorSource = number | [number, ...number[]] | { offset: number };

function offsetOf(source: ErrorSource): number {
  if (typeof source === "number") return source;
  return Array.isArray(source) ? source[0] : source.offset;
}

/** Reads a text as one document. @throws YamlError, or whatever a fault of the parser throws. */
export function compose(text: string): Document.Parsed {
  const documents = createComposer(text).compose(tokenize(text), true, text.length);
  const { value: document } = documents.next();
  if (!document) throw new YamlError("Expected a document");
  if (documents.next().done !== true) throw new YamlError("Expected one document, found more");
  const trouble = document.errors[0] ?? document.warnings[0];
  if (trouble !== undefined) throw new YamlError(shorten(trouble.message), placeAt(text, trouble.pos[0]));
  return document;
}

interface Converted {
  value: YamlValue;
  /** Values in it, itself included. */
  size: number;
}

/** Turns a document's nodes into plain values, counting what they come to. */
class Conversion {
  readonly #text: string;
  readonly #maxValues: number;
  readonly #anchors = new Map<string, Converted>();
  #used = 0;

  constructor(text: string, maxValues: number) {
    this.#text = text;
    this.#maxValues = maxValues;
  }

  convert(node: ParsedNode | null, depth: number): YamlValue {
    if (depth > maxDepth) this.#refuse(node, `Nesting is deeper than ${maxDepth} levels`);
    if (isAlias(node)) return this.#resolve(node);
    const before = this.#used;
    this.#use(node, 1);
    const value = this.#valueOf(node, depth);
    if (node?.anchor !== undefined) this.#anchors.set(node.anchor, { value, size: this.#used - before });
    return value;
  }

  #valueOf(node: ParsedNode | null, depth: number): YamlValue {
    if (isMap(node)) return this.#mapping(node, depth);
    if (isSeq(node)) return node.items.map((item) => this.convert(item as ParsedNode | null, depth + 1));
    const value: unknown = isScalar(node) ? node.value : null;
    if (value === null || value === undefined) return null;
    if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return value;
    return this.#refuse(node, "Unexpected kind of value");
  }

  #mapping(node: YamlMapNode, depth: number): YamlMapping {
    const mapping: YamlMapping = new Map();
    for (const pair of node.items) {
      const key = this.convert(pair.key, depth + 1);
      if (typeof key === "object" && key !== null) this.#refuse(pair.key, "Keys must be plain text");
      const name = String(key);
      if (mapping.has(name)) this.#refuse(pair.key, `Key '${name.slice(0, 100)}' is given twice`);
      mapping.set(name, this.convert(pair.value, depth + 1));
    }
    return mapping;
  }

  #resolve(node: ParsedNode & { source: string }): YamlValue {
    const target = this.#anchors.get(node.source);
    if (target === undefined)
      return this.#refuse(node, `Alias '*${node.source.slice(0, 100)}' has no anchor`);
    this.#use(node, target.size);
    return target.value;
  }

  #use(node: ParsedNode | null, size: number): void {
    this.#used += size;
    if (this.#used > this.#maxValues) this.#refuse(node, `Document has more than ${this.#maxValues} values`);
  }

  #refuse(node: ParsedNode | null, reason: string): never {
    throw new YamlError(reason, node === null ? undefined : placeAt(this.#text, node.range[0]));
  }
}

interface YamlMapNode {
  items: { key: ParsedNode; value: ParsedNode | null }[];
}

/**
 * Reads untrusted YAML 1.2: one document of plain values, bounded in size, depth and what its aliases come to, without
 * custom tags and without two equal keys in one mapping. Takes time linear in the text.
 * @throws YamlError, and nothing else, with a reason for the author of the text.
 */
export function readYaml(text: string, limits: YamlLimits): YamlValue {
  if (text.length > limits.maxLength)
    throw new YamlError(`Text is longer than ${limits.maxLength} characters`);
  try {
    return new Conversion(text, limits.maxValues).convert(compose(text).contents, 1);
  } catch (error) {
    if (error instanceof YamlError) throw error;
    // A fault of the parser is answered like a fault of the text: no text may make the server fail.
    throw new YamlError("Text cannot be read as YAML");
  }
}
