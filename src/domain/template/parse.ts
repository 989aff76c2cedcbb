import type { ReadYaml } from "../../lib/yaml.ts";
import { parseDocument, readDocument } from "../../lib/yaml-format.ts";
import { type Origin, templateFormat } from "./format.ts";
import type { Template } from "./model.ts";

const formats = { new: templateFormat("new"), stored: templateFormat("stored") };

/** Puts a template's parts in the order in which answers show them; they are read in another. */
function inOrder({ version, trail: { attestations, artifacts } }: Template): Template {
  return { version, trail: { attestations, artifacts } };
}

/**
 * Reads a flow template, schema version 1: what a trail and its artifacts are expected to get.
 * @throws TemplateError, and nothing else, with every mistake in the text.
 */
export function parseTemplate(source: string, origin: Origin = "new"): Template {
  return inOrder(parseDocument(formats[origin], source));
}

/** Does the same, with the YAML, which takes longest, read elsewhere. @throws what `read` throws beside. */
export async function readTemplate(
  source: string,
  read: ReadYaml,
  origin: Origin = "new",
): Promise<Template> {
  return inOrder(await readDocument(formats[origin], source, read));
}
