import { overloaded } from "../domain/errors.ts";
import type { ReadYaml } from "../lib/yaml.ts";
import { YamlBusy, yamlReader } from "../lib/yaml-aside.ts";

/**
 * Reads YAML on behalf of an organization without holding up the event loop.
 * @throws AppError unavailable when too much waits to be read, beside what `readYaml` throws.
 */
export function yamlOf(orgId: string): ReadYaml {
  return (text, limits) =>
    yamlReader.read(orgId, text, limits).catch((error: unknown) => {
      throw error instanceof YamlBusy ? overloaded() : error;
    });
}
