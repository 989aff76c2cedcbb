import { ExpressionError, type Span } from "../errors.ts";
import { fields, operators, type Expression, type Field, type Operator } from "./ast.ts";
import { checkComparison, checkCondition, checkListItem, checkSubject } from "./check.ts";
import { shorten, tokenize, type Token } from "./lexer.ts";
import { compilePattern, PatternError } from "./regex.ts";

/** Limits of one expression. */
export const expressionLimits = {
  /** UTF-16 units. */
  length: 16_384,
  /** Parentheses, lists, calls and negations within each other. */
  depth: 32,
  /** Values, comparisons and connections together. */
  nodes: 1000,
} as const;

const tagPrefix = "flow.tags.";
const keywords = new Set(["and", "or", "not", "in"]);

/** What people write who know another language. */
const foreignWords = new Map([
  ["AND", "write 'and'"],
  ["OR", "write 'or'"],
  ["NOT", "write 'not'"],
  ["null", "use exists(…)"],
  ["None", "use exists(…)"],
  ["true", "conditions are not compared with it"],
  ["false", "write 'not'"],
]);

const knownNames = "flow, flow.name, flow.tags.<key>, artifact.name and artifact.fingerprint";

/** Recursive descent over the tokens, one method for each rule of the grammar. */
class Parser {
  readonly #source: string;
  readonly #tokens: readonly Token[];
  #position = 0;
  #depth = 0;
  #nodes = 0;

  constructor(source: string) {
    this.#source = source;
    this.#tokens = tokenize(source);
  }

  parse(): Expression {
    if (this.#peek().kind === "end") this.#fail("Expression is empty", this.#peek());
    const expression = this.#or();
    const rest = this.#peek();
    if (rest.kind !== "end") this.#fail(`Expected the end, 'and' or 'or', found ${this.#show(rest)}`, rest);
    checkCondition(expression, this.#source);
    return expression;
  }

  #or(): Expression {
    return this.#connected("or", () => this.#connected("and", () => this.#not()));
  }

  #connected(kind: "or" | "and", operand: () => Expression): Expression {
    const first = operand();
    if (!this.#isWord(kind)) return first;
    const operands = [first];
    while (this.#takeWord(kind)) operands.push(operand());
    for (const each of operands) checkCondition(each, this.#source);
    return this.#node({ kind, operands, offset: first.offset, end: this.#end() });
  }

  #not(): Expression {
    const { offset } = this.#peek();
    if (!this.#takeWord("not")) return this.#comparison();
    return this.#nested(() => {
      const operand = this.#not();
      checkCondition(operand, this.#source);
      return this.#node({ kind: "not", operand, offset, end: this.#end() });
    });
  }

  #comparison(): Expression {
    const left = this.#value();
    const operator = this.#operator();
    if (operator === undefined) return left;
    const right = this.#value();
    const node = { kind: "compare" as const, operator, left, right, offset: left.offset, end: this.#end() };
    checkComparison(node, this.#source);
    const next = this.#peek();
    if (this.#operator() !== undefined)
      this.#fail("Comparisons cannot be chained; connect them with 'and'", next);
    return this.#node(node);
  }

  #operator(): Operator | undefined {
    if (this.#takeWord("in")) return "in";
    const token = this.#peek();
    if (token.kind === "word" && token.word === "not") {
      this.#position += 1;
      if (this.#takeWord("in")) return "not in";
      this.#fail(`Expected 'in' after 'not', found ${this.#show(this.#peek())}`, this.#peek());
    }
    const operator = operators.find((each) => token.kind === "symbol" && token.symbol === each);
    if (operator !== undefined) this.#position += 1;
    return operator;
  }

  #value(): Expression {
    const token = this.#next();
    if (token.kind === "text" || token.kind === "number") return this.#node({ ...token });
    if (token.kind === "word" && !keywords.has(token.word)) return this.#named(token);
    if (token.kind === "symbol" && token.symbol === "(") return this.#parenthesized(token);
    if (token.kind === "symbol" && token.symbol === "[") return this.#list(token);
    return this.#fail(`Expected a value, found ${this.#show(token)}`, token);
  }

  #parenthesized({ offset }: Span): Expression {
    const inner = this.#nested(() => this.#or());
    this.#expect(")");
    // The parentheses belong to what an error quotes.
    return { ...inner, offset, end: this.#end() };
  }

  #list({ offset }: Span): Expression {
    const items: Expression[] = [];
    if (!this.#takeSymbol("]")) {
      do items.push(this.#nested(() => this.#value()));
      while (this.#takeSymbol(","));
      this.#expect("]");
    }
    for (const item of items) checkListItem(item, this.#source);
    return this.#node({ kind: "list", items, offset, end: this.#end() });
  }

  #named(token: Token & { kind: "word" }): Expression {
    const { word, offset, end } = token;
    if (this.#isSymbol("(")) return this.#call(token);
    if (word === "flow") return this.#node({ kind: "flow", offset, end });
    if ((fields as readonly string[]).includes(word))
      return this.#node({ kind: "field", field: word as Field, offset, end });
    if (word.startsWith(tagPrefix) && word.length > tagPrefix.length)
      return this.#node({ kind: "tag", key: word.slice(tagPrefix.length), offset, end });
    const hint = foreignWords.get(word) ?? `known are ${knownNames}`;
    return this.#fail(`Unknown name '${shorten(word)}'; ${hint}`, token);
  }

  #call(token: Token & { kind: "word" }): Expression {
    const { word } = token;
    if (word !== "exists" && word !== "matches")
      this.#fail(`Unknown function '${shorten(word)}'; known are exists and matches`, token);
    this.#expect("(");
    return this.#nested(() => (word === "exists" ? this.#exists(token) : this.#matches(token)));
  }

  #exists({ offset }: Span): Expression {
    const operand = this.#value();
    this.#expect(")");
    return this.#node({ kind: "exists", operand, offset, end: this.#end() });
  }

  #matches({ offset }: Span): Expression {
    const subject = this.#value();
    checkSubject(subject, this.#source);
    this.#expect(",");
    const pattern = this.#next();
    if (pattern.kind !== "text")
      return this.#fail(`Expected a regular expression in quotes, found ${this.#show(pattern)}`, pattern);
    const regex = this.#regex(pattern);
    this.#expect(")");
    return this.#node({ kind: "matches", subject, pattern: pattern.value, regex, offset, end: this.#end() });
  }

  #regex(token: Token & { kind: "text" }) {
    try {
      return compilePattern(token.value);
    } catch (error) {
      if (error instanceof PatternError) this.#fail(error.message, token);
      throw error;
    }
  }

  #nested<T>(read: () => T): T {
    this.#depth += 1;
    if (this.#depth > expressionLimits.depth)
      this.#fail(`Expression is nested deeper than ${expressionLimits.depth} levels`, this.#peek());
    const result = read();
    this.#depth -= 1;
    return result;
  }

  #node(node: Expression): Expression {
    this.#nodes += 1;
    if (this.#nodes > expressionLimits.nodes)
      this.#fail(`Expression has more than ${expressionLimits.nodes} parts`, node);
    return node;
  }

  #peek(): Token {
    return (
      this.#tokens[this.#position] ?? { kind: "end", offset: this.#source.length, end: this.#source.length }
    );
  }

  #next(): Token {
    const token = this.#peek();
    this.#position += 1;
    return token;
  }

  /** Tells where the token just read ends. */
  #end(): number {
    return this.#tokens[this.#position - 1]?.end ?? 0;
  }

  #isWord(word: string): boolean {
    const token = this.#peek();
    return token.kind === "word" && token.word === word;
  }

  #takeWord(word: string): boolean {
    const found = this.#isWord(word);
    if (found) this.#position += 1;
    return found;
  }

  #isSymbol(symbol: string): boolean {
    const token = this.#peek();
    return token.kind === "symbol" && token.symbol === symbol;
  }

  #takeSymbol(symbol: string): boolean {
    const found = this.#isSymbol(symbol);
    if (found) this.#position += 1;
    return found;
  }

  #expect(symbol: string): void {
    const token = this.#peek();
    if (!this.#takeSymbol(symbol)) this.#fail(`Expected '${symbol}', found ${this.#show(token)}`, token);
  }

  #show(token: Token): string {
    return token.kind === "end"
      ? "the end of the expression"
      : `'${shorten(this.#source.slice(token.offset, token.end))}'`;
  }

  #fail(reason: string, span: Span): never {
    throw new ExpressionError(reason, this.#source, span);
  }
}

/**
 * Reads a condition of a policy, without its `${{ }}`.
 *
 * What it comes to is known from its form: it is true or false for any flow and artifact, and evaluating it cannot fail.
 * @throws ExpressionError, and nothing else, with the place of the first mistake.
 */
export function parseExpression(source: string): Expression {
  if (source.length > expressionLimits.length)
    throw new ExpressionError(`Expression is longer than ${expressionLimits.length} characters`, source, {
      offset: expressionLimits.length,
      end: expressionLimits.length,
    });
  return new Parser(source).parse();
}

const opening = "${{";
const closing = "}}";

/** Takes the text from between `${{` and `}}`, or as it is when it has neither, without blanks around it. */
export function unwrapExpression(text: string): string {
  const trimmed = text.trim();
  const wrapped = trimmed.startsWith(opening) && trimmed.endsWith(closing);
  return wrapped ? trimmed.slice(opening.length, -closing.length).trim() : trimmed;
}
