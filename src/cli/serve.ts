import { Command } from "commander";

import { type App, createApp } from "../app.ts";
import type { Config } from "../config.ts";
import { Settings } from "../config-reload.ts";
import { ManagedPostgresError, messageOf, systemReason } from "../db/managed/errors.ts";
import { isConnectionFailure, sqlState, sqlStateOf } from "../db/sqlstate.ts";
import { createLogger } from "../lib/log.ts";
import { CertificateError } from "../http/tls.ts";
import { isDiskFull } from "../lib/shortage.ts";
import { ForeignEvidenceError, requireKnownEvidence } from "../modules/process/evidence/mark-service.ts";
import { startFirstTime } from "./first-start.ts";
import { tellHowToSignIn } from "./sign-in.ts";
import { notifyManager } from "./notify.ts";
import { openLogOutput } from "./log-output.ts";
import { CliError } from "./output.ts";
import { reloadOnHangup } from "./reload.ts";

/** Resolves with the first of these signals. */
function stopSignal(signals: readonly NodeJS.Signals[]): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of signals) process.once(signal, () => resolve(signal));
  });
}

/** Turns what commonly keeps a server from starting into a sentence that says what to do. */
function explainStart(error: unknown, config: Config): unknown {
  if (error instanceof CliError || error instanceof ManagedPostgresError) return error;
  if (error instanceof CertificateError)
    return new CliError(`The server cannot speak TLS: ${error.message}.`);
  const { code, path } = error as NodeJS.ErrnoException;
  if (isDiskFull(error))
    return new CliError(
      `No space left on the disk${path === undefined ? "" : ` of ${path}`}: make some room, then start again.`,
      { cause: error },
    );
  if (sqlStateOf(error) === sqlState.diskFull)
    return new CliError("The disk of the database is full: make some room, then start again.", {
      cause: error,
    });
  if (code === "EADDRINUSE")
    return new CliError(
      `Port ${config.port} on ${config.host} is in use: stop the program that has it, or set PORT to another one.`,
    );
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND" || code === "EAI_AGAIN")
    return new CliError(`This machine has no address ${config.host}: set HOST to one it has.`);
  if (code === "EACCES")
    return new CliError(`Port ${config.port} is not open to this user: set PORT to one above 1023.`);
  if (config.databaseUrl !== undefined && isConnectionFailure(error))
    return new CliError(`The database at DATABASE_URL does not answer: ${(error as Error).message}`);
  return error;
}

/** Checks that evidence can be stored. @throws CliError when no evidence could be received: reports would be refused one by one. */
async function checkEvidenceFolder({ evidence, config }: App["deps"]): Promise<void> {
  await evidence.probeRoom().catch((error: unknown) => {
    const reason = systemReason(error) ?? messageOf(error);
    throw new CliError(`Evidence cannot be kept in ${config.evidence.dir}: ${reason}.`, { cause: error });
  });
}

/** Checks that this server and the others on the database keep evidence in one place. A bucket that does not answer keeps no server from starting. */
async function checkEvidenceMark({ db, evidence, config, log }: App["deps"]): Promise<void> {
  await requireKnownEvidence({ db, evidence }).catch((err: unknown) => {
    if (err instanceof ForeignEvidenceError || config.evidence.s3 === undefined) throw err;
    log.warn({ err }, "the bucket of evidence does not say whose it is");
  });
}

/** Does what has to be done before the first request, and listens. @returns the address. */
async function begin(app: App): Promise<string> {
  await checkEvidenceFolder(app.deps);
  await checkEvidenceMark(app.deps);
  await startFirstTime(app.deps);
  return app.listen();
}

const lingerMs = 1_000;

/** Ends the process although something waits for an answer still, such as a bucket's: all that has to be done has been done. */
function endSoon(): void {
  setTimeout(() => process.exit(), lingerMs).unref();
}

async function serve(): Promise<void> {
  const settings = new Settings();
  const { config } = settings;
  const log = createLogger(config.logLevel, openLogOutput());
  // Listened for from the start: a server asked to stop while it starts does so as soon as it has started.
  // A terminal that is closed takes its server along; anywhere else it is asked to read its settings again.
  const isAtTerminal = process.stdin.isTTY;
  const stopAsked = stopSignal(isAtTerminal ? ["SIGINT", "SIGTERM", "SIGHUP"] : ["SIGINT", "SIGTERM"]);
  const canReload = isAtTerminal ? undefined : reloadOnHangup(settings, log);
  let giveUp: (error: Error) => void = () => {};
  const lost = new Promise<never>((_resolve, reject) => {
    giveUp = reject;
  });
  // Awaited below; a loss before that is reported there.
  lost.catch(() => {});
  const app = await createApp(config, { log, onFatal: giveUp }).catch((error: unknown) => {
    throw explainStart(error, config);
  });
  try {
    const address = await begin(app).catch((error: unknown) => {
      throw explainStart(error, config);
    });
    log.info({ address, public_url: config.publicUrl }, "waybill is ready");
    canReload?.(app);
    if (config.isNotifying) await notifyManager(log, "READY=1");
    if (config.roles.api) await tellHowToSignIn(app.deps, address);
    const signal = await Promise.race([stopAsked, lost]);
    log.info({ signal }, "stopping");
    if (config.isNotifying) void notifyManager(log, "STOPPING=1");
  } finally {
    await app.stop();
    endSoon();
  }
}

/** Builds `waybill serve`: the server, until SIGINT or SIGTERM. */
export function serveCommand(): Command {
  return new Command("serve").description("start the server").action(serve);
}
