import type { ReadYaml } from "../../lib/yaml.ts";
import { parseDocument, type Path, readDocument } from "../../lib/yaml-format.ts";
import { type Origin, type PolicyDocument, policyFormat } from "./format.ts";
import type { BooleanRule, Policy } from "./model.ts";

function policyOf({ artifacts }: PolicyDocument): Policy {
  return {
    schema_version: "1",
    artifacts: {
      provenance: requirementOf(artifacts.provenance),
      trail_compliance: requirementOf(artifacts["trail-compliance"]),
      attestations: artifacts.attestations.map(({ if: condition, ...rule }) => ({ condition, ...rule })),
    },
  };
}

function requirementOf({ required, exceptions }: PolicyDocument["artifacts"]["provenance"]): BooleanRule {
  return { required, exceptions: exceptions.map((exception) => exception.if) };
}

/**
 * Reads an environment policy, schema version 1. Whether the controls it names exist is not known here: see
 * `controlsOf`.
 * @throws PolicyError, and nothing else, with every mistake in the text.
 */
export function parsePolicy(source: string, origin: Origin = "new"): Policy {
  return policyOf(parseDocument(policyFormat(origin), source));
}

/** Does the same, with the YAML, which takes longest, read elsewhere. @throws what `read` throws beside. */
export async function readPolicy(source: string, read: ReadYaml, origin: Origin = "new"): Promise<Policy> {
  return policyOf(await readDocument(policyFormat(origin), source, read));
}

/** Finds the controls a policy names: each identifier once, with the place of its first mention. */
export function controlsOf(policy: Policy): Map<string, Path> {
  const controls = new Map<string, Path>();
  for (const [index, { for_control }] of policy.artifacts.attestations.entries())
    if (for_control !== null && !controls.has(for_control))
      controls.set(for_control, ["artifacts", "attestations", index, "for_control"]);
  return controls;
}
