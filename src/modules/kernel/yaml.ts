import { overloaded } from "../../domain/errors.ts";
import type { ReadYaml, TextPlace } from "../../lib/yaml.ts";
import { YamlBusy, yamlReader } from "../../lib/yaml-aside.ts";

/**
 * Reads YAML on behalf of an organization without holding up the event loop.
 * @throws AppError unavailable when too much waits to be read, beside what `readYaml` throws.
 */
export function yamlOf(orgId: string): ReadYaml {
  return (text, limits) => yamlReader.read(orgId, text, limits).catch(refuseWhenBusy);
}

/**
 * Finds where paths lead in a text that was read before, likewise.
 * @throws AppError unavailable when too much waits to be read.
 */
export function yamlPlaces(
  orgId: string,
  text: string,
  paths: readonly (readonly (string | number)[])[],
): Promise<TextPlace[]> {
  return yamlReader.locate(orgId, text, paths).catch(refuseWhenBusy);
}

function refuseWhenBusy(error: unknown): never {
  throw error instanceof YamlBusy ? overloaded() : error;
}
