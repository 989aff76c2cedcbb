import { join } from "node:path";

import { writeSecretFile } from "../lib/secret-file.ts";
import { bootstrap, type FirstStart } from "../modules/identity/bootstrap/service.ts";
import type { Deps } from "../modules/kernel/deps.ts";
import { CliError, print } from "./output.ts";

/** Names the file in which the first administrator's key is kept. */
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

/** Writes the welcome. Only a terminal shows the key: other outputs end up in files that many can read. */
function welcome(made: FirstStart, file: string, terminal: boolean): string {
  const key = terminal ? [`  the administrator's key  ${made.key}`] : [];
  const kept = terminal
    ? "The key is not shown again. It is also kept, readable for you alone, in"
    : "The administrator's key is kept, readable for the owner alone, in";
  return [
    "",
    "This is the first start. It created",
    `  an organization          ${made.organization}`,
    `  an administrator         ${made.user}`,
    ...key,
    kept,
    `  ${file}`,
    "",
  ].join("\n");
}

/**
 * Sets up an empty installation and tells the person at the terminal how to get in. The key goes to the terminal, if
 * there is one, and to a file of the data directory, never to the log.
 * A server that answers no requests leaves that to one that does: the key is kept beside it.
 */
export async function startFirstTime(
  deps: Pick<Deps, "config" | "db" | "clock" | "ids">,
  terminal = process.stdout.isTTY,
): Promise<void> {
  if (!deps.config.roles.api) return;
  const file = initialKeyFile(deps.config.dataDir);
  const made = await bootstrap(deps, (key) => keepKey(file, key));
  if (made !== undefined) print.line(welcome(made, file, terminal));
}
