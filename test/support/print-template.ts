import type { Template, TemplateAttestation } from "../../src/domain/template/model.ts";

/** JSON text is YAML text as well, and needs no thought about what a plain scalar might be taken for. */
function scalar(text: string): string {
  return /^[a-zA-Z_][a-zA-Z0-9_-]*$/.test(text) && !/^(?:true|false|null)$/i.test(text)
    ? text
    : JSON.stringify(text);
}

function attestationLines(attestations: readonly TemplateAttestation[], indent: string): string[] {
  return attestations.flatMap(({ name, type }) => [
    `${indent}- name: ${scalar(name)}`,
    `${indent}  type: ${scalar(type)}`,
  ]);
}

/** A template as YAML text that `parseTemplate` reads back as the same template. */
export function printTemplate(template: Template): string {
  const { attestations, artifacts } = template.trail;
  const lines = ["version: 1"];
  if (attestations.length + artifacts.length > 0) lines.push("trail:");
  if (attestations.length > 0) lines.push("  attestations:", ...attestationLines(attestations, "    "));
  if (artifacts.length > 0) lines.push("  artifacts:");
  for (const artifact of artifacts) {
    lines.push(`    - name: ${scalar(artifact.name)}`);
    if (artifact.attestations.length > 0)
      lines.push("      attestations:", ...attestationLines(artifact.attestations, "        "));
  }
  return `${lines.join("\n")}\n`;
}
