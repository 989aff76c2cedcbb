import type { Template } from "../../domain/template/model.ts";
import { readStoredTemplate } from "../../domain/template/stored.ts";
import { TextCache } from "../../lib/text-cache.ts";
import { yamlOf } from "../yaml.ts";

/** What texts say never changes. */
const known = new TextCache<Template>(4 * 1024 * 1024);

/**
 * What stored templates say, each read once: the trails of a flow share theirs, and reading YAML takes longer than
 * anything else that is done with a trail. Not to be changed by callers.
 * @returns what a text of those given says.
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
  return (text) => templates.get(text)!;
}
