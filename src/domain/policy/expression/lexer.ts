import { ExpressionError, type Span } from "../errors.ts";

/** Form of numbers, in expressions and in tags that are compared with them. */
export const numberPattern = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

export type Token = Span &
  (
    | { kind: "word"; word: string }
    | { kind: "text"; value: string }
    | { kind: "number"; value: number }
    | { kind: "symbol"; symbol: string }
    | { kind: "end" }
  );

/** A name with everything that may follow `flow.tags.`: there is no subtraction that a hyphen could be taken for. */
const wordPattern = /[A-Za-z_][A-Za-z0-9_.~-]*/y;
const numberStart = /-?\d[A-Za-z0-9_.~]*(?:(?<=\d[eE])[+-]\d+)?/y;
const symbolPattern = /==|!=|<=|>=|[<>()[\],]/y;
const blankPattern = /\s+/y;

/** What people write who know another language. */
const foreignSymbols: Record<string, string> = {
  "=": "write '==' to compare",
  "&": "write 'and'",
  "|": "write 'or'",
  "!": "write 'not' or '!='",
  $: "the expression must be closed with '}}' when it opens with '${{'",
  "`": "texts stand in single or double quotes",
};

function matchAt(pattern: RegExp, source: string, offset: number): string | undefined {
  pattern.lastIndex = offset;
  return pattern.exec(source)?.[0];
}

/**
 * Reads a quoted text. A backslash protects a quote or another backslash; before anything else it stands for itself, so that
 * regular expressions need no doubling.
 */
function readText(source: string, offset: number): Token {
  const quote = source[offset];
  let value = "";
  let at = offset + 1;
  for (; at < source.length && source[at] !== quote; at += 1) {
    const next = source[at + 1];
    if (source[at] === "\\" && (next === "\\" || next === "'" || next === '"')) at += 1;
    value += source[at];
  }
  if (at >= source.length)
    throw new ExpressionError(`This text has no closing ${quote}`, source, { offset, end: source.length });
  return { kind: "text", value, offset, end: at + 1 };
}

function readNumber(source: string, span: Span): Token {
  const digits = source.slice(span.offset, span.end);
  const value = Number(digits);
  if (!numberPattern.test(digits) || !Number.isFinite(value))
    throw new ExpressionError(`'${shorten(digits)}' is not a number`, source, span);
  // A negative zero equals zero and prints like it.
  return { kind: "number", value: value === 0 ? 0 : value, ...span };
}

/** Gives enough of a text to recognize it. */
export function shorten(text: string): string {
  const characters = Array.from(text.slice(0, 80));
  return characters.length > 40 ? `${characters.slice(0, 40).join("")}…` : text;
}

function unexpectedCharacter(source: string, offset: number): ExpressionError {
  const character = String.fromCodePoint(source.codePointAt(offset) ?? 0);
  const hint = Object.hasOwn(foreignSymbols, character) ? `; ${foreignSymbols[character]}` : "";
  const span = { offset, end: offset + character.length };
  return new ExpressionError(`Unexpected character '${character}'${hint}`, source, span);
}

function readToken(source: string, offset: number): Token {
  const first = source[offset];
  if (first === "'" || first === '"') return readText(source, offset);
  const word = matchAt(wordPattern, source, offset);
  if (word !== undefined) return { kind: "word", word, offset, end: offset + word.length };
  const digits = matchAt(numberStart, source, offset);
  if (digits !== undefined) return readNumber(source, { offset, end: offset + digits.length });
  const symbol = matchAt(symbolPattern, source, offset);
  if (symbol !== undefined) return { kind: "symbol", symbol, offset, end: offset + symbol.length };
  throw unexpectedCharacter(source, offset);
}

/**
 * Splits an expression into tokens, the last of kind `end`.
 * @throws ExpressionError at the first character that cannot be part of any.
 */
export function tokenize(source: string): Token[] {
  const tokens: Token[] = [];
  let at = matchAt(blankPattern, source, 0)?.length ?? 0;
  while (at < source.length) {
    const token = readToken(source, at);
    tokens.push(token);
    at = token.end + (matchAt(blankPattern, source, token.end)?.length ?? 0);
  }
  tokens.push({ kind: "end", offset: source.length, end: source.length });
  return tokens;
}
