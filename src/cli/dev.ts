import { readFile, rm } from "node:fs/promises";

import { Command } from "commander";

import { readConfig } from "../config.ts";
import { inputErrors } from "../contract/input-errors.ts";
import { withInput } from "../contract/safe-parse.ts";
import { emptyDatabase } from "../db/empty.ts";
import { transaction } from "../db/transaction.ts";
import { applySeed, Seed } from "../modules/identity/bootstrap/seed-service.ts";
import { type CommandDeps, commandActor, withRunningServer } from "./command-deps.ts";
import { initialKeyFile } from "./first-start.ts";
import { CliError, print } from "./output.ts";

async function readSeedText(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw new CliError(`The seed ${file} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

/** Reads and checks a seed file. @throws CliError naming everything that is wrong with it. */
export async function readSeed(file: string): Promise<Seed> {
  const text = await readSeedText(file);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's own message quotes the text, which holds keys.
    throw new CliError(`The seed ${file} is not valid JSON`);
  }
  const parsed = Seed.safeParse(value, withInput);
  if (parsed.success) return parsed.data;
  // Without the values: they may be keys.
  const mistakes = Object.entries(inputErrors("", parsed.error)).map(
    ([location, reason]) => `  ${location}: ${reason.replace(/ \[input: [^]*\]$/, "")}`,
  );
  throw new CliError([`The seed ${file} is not valid:`, ...mistakes].join("\n"));
}

/** Lets development commands through only where they were asked for: this one destroys data. @throws CliError. */
function requireDevelopment(dev: boolean): void {
  if (dev) return;
  throw new CliError(
    "This command destroys everything in the database. It works only when WAYBILL_DEV=1 is set.",
  );
}

function counted(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? "" : "s"}`;
}

/** Runs `waybill dev reset`: empties the running server's database and applies a seed, all or nothing. */
export async function reset(deps: CommandDeps, seed: Seed): Promise<void> {
  requireDevelopment(deps.config.dev);
  const created = await transaction(deps.db, async (tx) => {
    await emptyDatabase(tx);
    return applySeed(deps, tx, { seed, actor: commandActor("dev reset") });
  });
  // The key in it went with everything else.
  await rm(initialKeyFile(deps.config.dataDir), { force: true });
  print.line(
    `Removed everything, then created ${counted(created.users, "user")}, ${counted(created.organizations, "organization")} and ${counted(created.keys, "key")}.`,
  );
}

/** Builds `waybill dev …`: commands that are dangerous anywhere but on a developer's machine. */
export function devCommand(): Command {
  const dev = new Command("dev").description("development only");
  dev
    .command("reset")
    .description("remove everything from the running server's database, then create the users of a seed")
    .requiredOption("--seed <file>", "JSON file with the users to begin with")
    .action(async ({ seed: file }: { seed: string }) => {
      requireDevelopment(readConfig().dev);
      const seed = await readSeed(file);
      await withRunningServer((deps) => reset(deps, seed), { anyTime: true });
    });
  return dev;
}
