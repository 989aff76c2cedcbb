import type { ReadYaml } from "../../lib/yaml.ts";
import { TemplateError } from "./errors.ts";
import { emptyTemplate, emptyTemplateText, type Template } from "./model.ts";
import { parseTemplate, readTemplate } from "./parse.ts";

/** Name of the artifact of older templates, which knew one only. */
const legacyArtifact = "artifact";

/** Names joined by blanks. No template in YAML looks like that: each has a colon. */
const legacyPattern = /^[a-zA-Z0-9\-_,]+(?: [a-zA-Z0-9\-_,]+)*$/;

/** Makes the text that is stored for a template given as a list of names; an empty list gives the empty template. */
export function legacyTemplateText(names: readonly string[]): string {
  return names.length === 0 ? emptyTemplateText : [...new Set(names)].join(" ");
}

/**
 * Makes the template that a list of names means: one artifact called `artifact`, which needs an attestation of any type for each name. The
 * name `artifact` in the list stands for the artifact itself.
 */
export function legacyTemplate(names: readonly string[]): Template {
  const attestations = [...new Set(names)]
    .filter((name) => name !== legacyArtifact)
    .map((name) => ({ name, type: "*" }));
  return { version: 1, trail: { attestations: [], artifacts: [{ name: legacyArtifact, attestations }] } };
}

/**
 * Reads a template that was stored: YAML, or a list of names. Rules may have become stricter since; a text that cannot be
 * read any more expects nothing, so that one old record does not break a list.
 */
export function storedTemplate(text: string): Template {
  if (legacyPattern.test(text)) return legacyTemplate(text.split(" "));
  try {
    return parseTemplate(text, "stored");
  } catch (error) {
    return nothingFor(error);
  }
}

/** Does the same, with the YAML, which takes longest, read elsewhere. @throws what `read` throws beside. */
export async function readStoredTemplate(text: string, read: ReadYaml): Promise<Template> {
  if (legacyPattern.test(text)) return legacyTemplate(text.split(" "));
  return readTemplate(text, read, "stored").catch(nothingFor);
}

function nothingFor(error: unknown): Template {
  if (error instanceof TemplateError) return emptyTemplate();
  throw error;
}
