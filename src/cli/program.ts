import { Command, CommanderError } from "commander";

import { programVersion } from "../open-database.ts";
import { ConfigError, quietLibraries } from "../config.ts";
import { AppError } from "../domain/errors.ts";
import { adminCommand } from "./admin.ts";
import { backupCommand } from "./backup.ts";
import { demoCommand } from "../../demo/command.ts";
import { devCommand } from "./dev.ts";
import { doctorCommand } from "./doctor.ts";
import { drillCommand } from "./drill.ts";
import { restoreCommand } from "./restore.ts";
import { healthCommand } from "./health.ts";
import { serveCommand } from "./serve.ts";
import { supportBundleCommand } from "./support-bundle.ts";
import { upgradeCommand } from "./upgrade.ts";
import { ManagedPostgresError } from "../db/managed/index.ts";
import { UpgradeError } from "../db/migrate.ts";
import { PoolerError } from "../db/pooler.ts";
import { UnfinishedRestoreError } from "../db/restore-state.ts";
import { ForeignReplicaError } from "../db/replica.ts";
import { ForeignSecretsError } from "../db/secret-key.ts";
import { TracingMissing } from "../lib/tracing/tracing.ts";
import { BucketError } from "../lib/bucket/bucket.ts";
import { ForeignEvidenceError } from "../modules/process/evidence/mark-service.ts";
import { DamagedArchive } from "../lib/tar-reader.ts";
import { CliError, print } from "./output.ts";

/** Builds the command line: one command a file. */
function createProgram(): Command {
  const program = new Command("waybill")
    .description("Self-hosted supply-chain tracking")
    .version(programVersion())
    // What stands after the name of a command is that command's, also where those above it have an option of that name.
    .enablePositionalOptions()
    .exitOverride();
  program.addCommand(serveCommand());
  program.addCommand(healthCommand());
  program.addCommand(doctorCommand());
  program.addCommand(supportBundleCommand());
  program.addCommand(adminCommand());
  program.addCommand(backupCommand());
  program.addCommand(restoreCommand().enablePositionalOptions().addCommand(drillCommand()));
  program.addCommand(upgradeCommand());
  program.addCommand(demoCommand());
  program.addCommand(devCommand());
  return program;
}

/** What keeps a file from being read or written, where the system's own words are a sentence. */
const fileFailures = new Set(["ENOSPC", "EDQUOT", "EROFS", "EACCES", "EPERM", "ENOTDIR", "EIO"]);

function isFileFailure(error: unknown): error is NodeJS.ErrnoException {
  if (!(error instanceof Error)) return false;
  const { code, path } = error as NodeJS.ErrnoException;
  return path !== undefined && fileFailures.has(code ?? "");
}

/** Explains a failure to the person at the terminal: by a sentence where we have one, else by all we know. */
function explain(error: unknown): string {
  if (error instanceof ConfigError)
    return error.mistakes.map((mistake) => `Configuration: ${mistake}`).join("\n");
  if (
    error instanceof CliError ||
    error instanceof DamagedArchive ||
    error instanceof BucketError ||
    error instanceof UnfinishedRestoreError ||
    error instanceof ManagedPostgresError ||
    error instanceof ForeignSecretsError ||
    error instanceof ForeignEvidenceError ||
    error instanceof UpgradeError ||
    error instanceof PoolerError ||
    error instanceof TracingMissing ||
    error instanceof ForeignReplicaError ||
    isFileFailure(error)
  )
    return error.message;
  if (error instanceof AppError)
    return [
      error.message,
      ...Object.entries(error.errors ?? {}).map(([at, what]) => `  ${at}: ${what}`),
    ].join("\n");
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** Runs one command. @returns the process' exit status. */
export async function runCli(argv: string[]): Promise<number> {
  quietLibraries();
  try {
    await createProgram().parseAsync(argv);
    return 0;
  } catch (error) {
    // Commander has printed its own messages already.
    if (error instanceof CommanderError) return error.exitCode;
    print.error(explain(error));
    return error instanceof CliError ? error.exitStatus : 1;
  }
}
