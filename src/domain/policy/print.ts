import type { AttestationRule, BooleanRule, Condition, Policy } from "./model.ts";

/** A condition as interfaces show it. */
interface ConditionText {
  text: string;
}

/** How a rule that is switched on is shown beside its verdict (contract of snapshots). */
export interface BooleanDefinition {
  required: boolean;
  exceptions: { if: ConditionText | null }[];
}

/** How a rule about an attestation is shown beside its verdict. */
export interface AttestationDefinition {
  if: ConditionText | null;
  name: string;
  type: string;
  must_be_compliant: boolean;
  for_control: string | null;
}

interface BooleanDump {
  required: boolean;
  exceptions: { if_condition: ConditionText | null }[];
}

/** A policy as a snapshot keeps it. Its keys differ from those of the YAML and from those of definitions. */
export interface PolicyDump {
  schema_version: "1";
  artifacts: {
    provenance: BooleanDump;
    trail_compliance: BooleanDump;
    attestations: {
      if_condition: ConditionText | null;
      name: string;
      type: string;
      must_be_compliant: boolean;
      for_control: string | null;
    }[];
  };
}

function textOf(condition: Condition | null): ConditionText | null {
  return condition === null ? null : { text: condition.text };
}

/** Makes `rule.definition` of a provenance or trail-compliance rule. */
export function booleanDefinition({ required, exceptions }: BooleanRule): BooleanDefinition {
  return { required, exceptions: exceptions.map((exception) => ({ if: textOf(exception) })) };
}

/** Makes `rule.definition` of an attestation rule. */
export function attestationDefinition({ condition, ...rule }: AttestationRule): AttestationDefinition {
  const { name, type, must_be_compliant, for_control } = rule;
  return { if: textOf(condition), name, type, must_be_compliant, for_control };
}

function dumpBoolean({ required, exceptions }: BooleanRule): BooleanDump {
  return { required, exceptions: exceptions.map((exception) => ({ if_condition: textOf(exception) })) };
}

/** Makes `policy_dump` of an applied policy. */
export function policyDump({ schema_version, artifacts }: Policy): PolicyDump {
  return {
    schema_version,
    artifacts: {
      provenance: dumpBoolean(artifacts.provenance),
      trail_compliance: dumpBoolean(artifacts.trail_compliance),
      attestations: artifacts.attestations.map(
        ({ condition, name, type, must_be_compliant, for_control }) => ({
          if_condition: textOf(condition),
          name,
          type,
          must_be_compliant,
          for_control,
        }),
      ),
    },
  };
}
