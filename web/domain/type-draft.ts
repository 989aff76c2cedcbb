import { mistakeInJson, placeInJson } from "./json-places.ts";
import { type TextProblem, withoutInput } from "./policy-errors.ts";

/** A line that is written, known by its key while others come and go. */
interface DraftLine {
  key: number;
  text: string;
}

/** A line of a summary that is written. */
interface DraftSummary {
  key: number;
  name: string;
  expression: string;
}

/** What a type of attestations says, as it is written. */
export interface TypeDraft {
  description: string;
  /** JSON; empty for none. */
  schema: string;
  /** In jq. */
  rules: readonly DraftLine[];
  summary: readonly DraftSummary[];
}

/** A version of a type, as the API tells it. */
export interface TypeVersionLike {
  type_schema: Readonly<Record<string, unknown>> | null;
  evaluator: { content_type: "jq"; rules: readonly string[] } | { content_type: "default" };
  summary: readonly { name: string; expression: string }[] | null;
}

/** What a new type begins with. */
export const typeStart: TypeDraft = {
  description: "",
  schema: "",
  rules: [{ key: 0, text: "" }],
  summary: [],
};

/** Reads a version as something to be written on. */
export function draftOf(
  { type_schema, evaluator, summary }: TypeVersionLike,
  description: string | undefined,
): TypeDraft {
  const rules = evaluator.content_type === "jq" ? evaluator.rules : [];
  return {
    description: description ?? "",
    schema: type_schema === null ? "" : JSON.stringify(type_schema, null, 2),
    rules: rules.map((text, key) => ({ key, text })),
    summary: (summary ?? []).map((line, key) => ({ key, ...line })),
  };
}

/** Gives a key that none of these lines has. */
export function nextKey(lines: readonly { key: number }[]): number {
  return Math.max(-1, ...lines.map(({ key }) => key)) + 1;
}

/** A definition as operations take it. Lines without anything in them are left out. */
export interface GivenType {
  schema: Record<string, unknown> | null;
  rules: string[] | null;
  summary: { name: string; expression: string }[] | null;
}

function schemaIn(text: string): Record<string, unknown> | null {
  if (text.trim() === "" || mistakeInJson(text) !== undefined) return null;
  const value: unknown = JSON.parse(text);
  return typeof value === "object" && value !== null ? { ...value } : null;
}

/** Reads what is written. A schema that is no JSON counts as none: see `lackingIn`. */
export function givenType({ schema, rules, summary }: TypeDraft): GivenType {
  const asked = rules.map(({ text }) => text).filter((text) => text.trim() !== "");
  const shown = summary.filter(({ name, expression }) => name.trim() !== "" || expression.trim() !== "");
  return {
    schema: schemaIn(schema),
    rules: asked.length === 0 ? null : asked,
    summary: shown.length === 0 ? null : shown.map(({ name, expression }) => ({ name, expression })),
  };
}

/** Says what keeps a draft from being sent. */
export function lackingIn({ schema, summary }: TypeDraft): string | undefined {
  if (schema.trim() !== "" && mistakeInJson(schema) !== undefined) return "The schema is no JSON yet";
  const isHalf = summary.some(({ name, expression }) => (name.trim() === "") !== (expression.trim() === ""));
  return isHalf ? "A line of the summary lacks its name or its expression" : undefined;
}

/** Where the mistakes are that were found in a draft. */
export interface DraftMistakes {
  schema: readonly TextProblem[];
  /** By key of the rule. */
  rules: ReadonlyMap<number, string>;
  /** By key of the line. */
  summary: ReadonlyMap<number, string>;
}

function inLines(
  errors: Readonly<Record<string, string>>,
  pattern: RegExp,
  sent: readonly { key: number }[],
): Map<number, string> {
  return new Map(
    Object.entries(errors).flatMap(([part, message]): [number, string][] => {
      const line = sent[Number(pattern.exec(part)?.[1] ?? Number.NaN)];
      return line === undefined ? [] : [[line.key, withoutInput(message)]];
    }),
  );
}

/** Finds where in a draft the mistakes are: those that can be told at once, and those that the API names by their part. */
export function mistakesIn(draft: TypeDraft, errors: Readonly<Record<string, string>>): DraftMistakes {
  const { schema, rules, summary } = draft;
  const own = schema.trim() === "" ? undefined : mistakeInJson(schema);
  const named = Object.entries(errors)
    .filter(([part]) => part === "schema" || part.startsWith("schema/"))
    .map(([part, message]): TextProblem => {
      const pointer = part.slice("schema".length);
      return { ...placeInJson(schema, pointer), message: withoutInput(message), part: pointer };
    });
  return {
    schema: own === undefined ? (schema.trim() === "" ? [] : named) : [{ ...own, part: "" }],
    rules: inLines(
      errors,
      /^rules\[(\d+)\]/,
      rules.filter(({ text }) => text.trim() !== ""),
    ),
    summary: inLines(
      errors,
      /^summary\[(\d+)\]/,
      summary.filter(({ name, expression }) => name.trim() !== "" || expression.trim() !== ""),
    ),
  };
}

/** Writes what a definition says as a text, by which two of them can be compared line by line. */
export function definitionText(draft: TypeDraft): string {
  const { schema, rules, summary } = givenType(draft);
  const isHalf = draft.schema.trim() !== "" && mistakeInJson(draft.schema) !== undefined;
  const parts = [
    ...(draft.description === "" ? [] : [`Description\n${draft.description}`]),
    `Rules\n${rules === null ? "none" : rules.join("\n")}`,
    `Summary\n${summary === null ? "none" : summary.map(({ name, expression }) => `${name}: ${expression}`).join("\n")}`,
    `Schema\n${isHalf ? draft.schema : schema === null ? "none" : JSON.stringify(schema, null, 2)}`,
  ];
  return `${parts.join("\n\n")}\n`;
}
