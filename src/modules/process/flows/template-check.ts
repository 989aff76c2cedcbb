import { TemplateError } from "../../../domain/template/errors.ts";
import type { Template } from "../../../domain/template/model.ts";
import { readTemplate } from "../../../domain/template/parse.ts";
import { type ReadYaml, YamlError } from "../../../lib/yaml.ts";
import { showPath } from "../../../lib/yaml-format.ts";
import { zip } from "../../../lib/zip.ts";
import { yamlOf, yamlPlaces } from "../../kernel/yaml.ts";

/** One thing that is wrong with a template, and where, counted from 1. */
interface TemplateMistake {
  path: string;
  line: number | null;
  column: number | null;
  message: string;
}

/** What a text says as a template, or everything that is wrong with it. */
export interface CheckedTemplate {
  valid: boolean;
  errors: TemplateMistake[];
  template: Template | null;
}

/**
 * Reads a text as a template in the way in which flows get theirs, aside from the event loop.
 * @throws AppError unavailable when too much waits to be read.
 */
export async function checkTemplate(orgId: string, text: string): Promise<CheckedTemplate> {
  let unreadable: YamlError | undefined;
  const read: ReadYaml = (source, limits) =>
    yamlOf(orgId)(source, limits).catch((error: unknown) => {
      if (error instanceof YamlError) unreadable = error;
      throw error;
    });
  try {
    return { valid: true, errors: [], template: await readTemplate(text, read) };
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    return { valid: false, errors: await placed(orgId, text, error, unreadable), template: null };
  }
}

/** Adds the places: that of the text which is no YAML, else those that the paths lead to. */
async function placed(
  orgId: string,
  text: string,
  { issues }: TemplateError,
  unreadable: YamlError | undefined,
): Promise<TemplateMistake[]> {
  const mistakes = issues.map(({ path, reasons }) => ({ path: showPath(path), message: reasons.join("; ") }));
  if (unreadable !== undefined) {
    const { line = null, column = null } = unreadable;
    return mistakes.map((mistake) => ({ ...mistake, line, column }));
  }
  const places = await yamlPlaces(
    orgId,
    text,
    issues.map(({ path }) => path),
  );
  return zip(mistakes, places).map(([mistake, place]) => ({ ...mistake, ...place }));
}
