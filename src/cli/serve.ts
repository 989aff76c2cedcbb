import { Command } from "commander";
import { pino } from "pino";

import { createApp } from "../app.ts";
import { readConfig } from "../config.ts";
import { startFirstTime } from "./first-start.ts";

/** Resolves with the first signal that asks the process to end. */
function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve(signal));
  });
}

async function serve(): Promise<void> {
  const config = readConfig();
  const log = pino({ level: config.logLevel });
  let giveUp: (error: Error) => void = () => {};
  const lost = new Promise<never>((_resolve, reject) => {
    giveUp = reject;
  });
  // Awaited below; a loss before that is reported there.
  lost.catch(() => {});
  const app = await createApp(config, { log, onFatal: giveUp });
  try {
    await startFirstTime(app.deps);
    const address = await app.listen();
    log.info({ address, public_url: config.publicUrl }, "waybill is ready");
    const signal = await Promise.race([stopSignal(), lost]);
    log.info({ signal }, "stopping");
  } finally {
    await app.stop();
  }
}

/** `waybill serve`: the server, until SIGINT or SIGTERM. */
export function serveCommand(): Command {
  return new Command("serve").description("start the server").action(serve);
}
