import { isDeepStrictEqual } from "node:util";

/** Limits of a definition: more than anybody needs, little enough to be checked at once. */
export const definitionLimits = {
  rules: 50,
  summary: 50,
  expressionLength: 10_000,
  summaryNameLength: 256,
  descriptionLength: 10_000,
  schemaBytes: 512 * 1024,
};

/** Rules in jq, all of which have to yield true. */
export interface JqEvaluator {
  content_type: "jq";
  rules: string[];
}

/** A labelled jq expression whose result is shown to people. */
export interface SummaryItem {
  name: string;
  expression: string;
}

/** What one version of a custom attestation type says. */
export interface TypeDefinition {
  /** Null when there is none; never empty. */
  description: string | null;
  /** A JSON Schema; null when there is none. */
  type_schema: Record<string, unknown> | null;
  /** Null when the schema alone decides. */
  evaluator: JqEvaluator | null;
  /** Null when there is none; never empty. */
  summary: SummaryItem[] | null;
}

/** A definition as callers give it, who have several ways of leaving something out. */
export interface GivenDefinition {
  description?: string | null | undefined;
  type_schema?: Record<string, unknown> | undefined;
  evaluator?: JqEvaluator | { content_type: "default" } | null | undefined;
  summary?: SummaryItem[] | null | undefined;
}

/**
 * Brings a definition into the one form that all ways of saying the same have. It holds only what JSON can, because it
 * is compared with what comes back from storage. An empty list of rules is kept: it is not the same as none.
 */
export function normalDefinition(given: GivenDefinition): TypeDefinition {
  const { evaluator } = given;
  const definition: TypeDefinition = {
    description: given.description || null,
    type_schema: given.type_schema ?? null,
    evaluator: evaluator?.content_type === "jq" ? { content_type: "jq", rules: [...evaluator.rules] } : null,
    summary: given.summary?.length
      ? given.summary.map(({ name, expression }) => ({ name, expression }))
      : null,
  };
  return JSON.parse(JSON.stringify(definition)) as TypeDefinition;
}

/**
 * Says whether two definitions are the same, so that no new version is due. The order of keys in schemas means nothing,
 * that of rules and summary items counts.
 */
export function isSameDefinition(a: TypeDefinition, b: TypeDefinition): boolean {
  return (
    a.description === b.description &&
    isDeepStrictEqual(a.type_schema, b.type_schema) &&
    isDeepStrictEqual(a.evaluator?.rules, b.evaluator?.rules) &&
    isDeepStrictEqual(a.summary, b.summary)
  );
}
