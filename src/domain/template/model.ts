/** An attestation that a trail or an artifact has to get. */
export interface TemplateAttestation {
  name: string;
  /** One of `attestationTypes`, `custom:<type name>`, or `*` for any. */
  type: string;
}

/** An artifact that a trail has to get, with the attestations it needs. */
export interface TemplateArtifact {
  name: string;
  attestations: TemplateAttestation[];
}

/** What the runs of a flow are expected to produce (flow template, schema version 1). */
export interface Template {
  version: 1;
  trail: { attestations: TemplateAttestation[]; artifacts: TemplateArtifact[] };
}

/** Types with a meaning of their own. Beside them: `custom:<type name>`, `decision` and `*`. */
export const attestationTypes = ["generic", "junit", "snyk", "pull_request", "jira", "sonar"] as const;

/** Types that an organization defines itself. */
export const customTypePattern = /^custom:.*$/;

/** Says whether a type is one that templates and policies can ask for. */
export function isExpectedType(type: string): boolean {
  if (type === "decision" || type === "*") return true;
  return (attestationTypes as readonly string[]).includes(type) || customTypePattern.test(type);
}

/** JSON Schema of the same types. */
export const expectedTypeSchema = {
  anyOf: [
    { enum: [...attestationTypes] },
    { pattern: customTypePattern.source },
    { const: "decision" },
    { const: "*" },
  ],
};

/** The template of flows that were created without one: nothing is expected. */
export const emptyTemplateText = "version: 1\n";

/** Makes a template that expects nothing. */
export function emptyTemplate(): Template {
  return { version: 1, trail: { attestations: [], artifacts: [] } };
}
