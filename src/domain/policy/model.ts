import type { Expression } from "./expression/ast.ts";

/** A condition of a policy: its text, without `${{ }}`, and what the text says. */
export interface Condition {
  text: string;
  expression: Expression;
}

/** A rule that is switched on, with conditions that waive it. */
export interface BooleanRule {
  required: boolean;
  /** Any that holds waives the rule. Null, an exception without a condition, never does. */
  exceptions: readonly (Condition | null)[];
}

/** A rule that asks for an attestation on an artifact or on its trail. */
export interface AttestationRule {
  /** The rule applies only where this holds; null: everywhere. */
  condition: Condition | null;
  /** `*` for any. Not both this and `type`. */
  name: string;
  /** As in templates: a built-in type, `custom:<type name>`, `decision`, or `*` for any. */
  type: string;
  /** Whether the attestation has to be compliant, or only to exist. */
  must_be_compliant: boolean;
  /** Identifier of the control that a decision has to be about; null: none in particular. Only with type `decision`. */
  for_control: string | null;
}

/** An environment policy, schema version 1: what artifacts have to fulfil to run somewhere. */
export interface Policy {
  schema_version: "1";
  artifacts: {
    provenance: BooleanRule;
    trail_compliance: BooleanRule;
    attestations: readonly AttestationRule[];
  };
}

/** Stands for any name or any type. */
export const anything = "*";
