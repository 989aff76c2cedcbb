import { join } from "node:path";

import { writeSecretFile } from "../lib/secret-file.ts";
import { bootstrap } from "../modules/bootstrap/service.ts";
import type { Deps } from "../modules/deps.ts";
import { CliError, print } from "./output.ts";

/** Where the first administrator's key is kept. */
export function initialKeyFile(dataDir: string): string {
  return join(dataDir, "initial-admin-key");
}

async function keepKey(file: string, key: string): Promise<void> {
  try {
    await writeSecretFile(file, `${key}\n`);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CliError(`The first administrator's key cannot be kept in ${file}: ${reason}`, {
      cause: error,
    });
  }
}

/**
 * Sets up an empty installation and tells the person at the terminal how to get in. The key goes to the terminal and to
 * a file of the data directory, never to the log.
 */
export async function startFirstTime(deps: Pick<Deps, "config" | "db" | "clock" | "ids">): Promise<void> {
  const file = initialKeyFile(deps.config.dataDir);
  const made = await bootstrap(deps, (key) => keepKey(file, key));
  if (made === undefined) return;
  print.line(
    [
      "",
      "This is the first start. There is now",
      `  an organization          ${made.organization}`,
      `  an administrator         ${made.user}`,
      `  the administrator's key  ${made.key}`,
      "The key is not shown again. It is also kept, readable for you alone, in",
      `  ${file}`,
      "",
    ].join("\n"),
  );
}
