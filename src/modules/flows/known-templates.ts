import type { Template } from "../../domain/template/model.ts";
import { storedTemplate } from "../../domain/template/stored.ts";

const knownTemplates = new Map<string, Template>();
const maxKnownTemplates = 200;

/**
 * What a stored template says, read once: the trails of a flow share theirs, and reading YAML takes longer than anything
 * else that is done with a trail. Not to be changed by callers.
 */
export function knownTemplate(text: string): Template {
  const known = knownTemplates.get(text);
  if (known !== undefined) return known;
  const template = storedTemplate(text);
  if (knownTemplates.size >= maxKnownTemplates) knownTemplates.clear();
  knownTemplates.set(text, template);
  return template;
}
