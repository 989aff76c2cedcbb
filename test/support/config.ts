import { ConfigError, readConfig } from "../../src/config.ts";

/** Lists what is wrong with a configuration, a sentence each. */
export function mistakesOf(environment: Record<string, string>): string[] {
  try {
    readConfig(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.mistakes;
    throw error;
  }
  return [];
}
