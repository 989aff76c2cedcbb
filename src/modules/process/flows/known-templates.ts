import type { Template } from "../../../domain/template/model.ts";
import { readStoredTemplate } from "../../../domain/template/stored.ts";
import { present } from "../../../lib/present.ts";
import { TextCache } from "../../../lib/text-cache.ts";
import { yamlOf } from "../../kernel/yaml.ts";

/** Templates by their text, whose meaning never changes. */
const known = new TextCache<Template>(4 * 1024 * 1024);

/**
 * Parses stored templates, each once: the trails of a flow share theirs, and reading YAML takes longer than anything else
 * that is done with a trail.
 * @returns a function from a text of those given to its template, which callers must not change.
 */
export async function knownTemplates(
  orgId: string,
  texts: Iterable<string>,
): Promise<(text: string) => Template> {
  const templates = new Map<string, Template>();
  for (const text of new Set(texts)) {
    const template = known.get(text) ?? (await readStoredTemplate(text, yamlOf(orgId)));
    known.set(text, template, text.length);
    templates.set(text, template);
  }
  return (text) => present(templates.get(text), "it is one of the given texts");
}
