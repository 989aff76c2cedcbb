import type { Logger } from "pino";

import type { App } from "../app.ts";
import { ConfigError } from "../config.ts";
import type { Settings } from "../config-reload.ts";
import { CertificateError } from "../http/tls.ts";

function mistakesOf(error: unknown): string[] {
  if (error instanceof ConfigError) return error.mistakes;
  if (error instanceof CertificateError) return [error.message];
  throw error;
}

/** Reads the settings again and takes up what can be, or nothing at all; the log tells what, by names and never by values. */
async function reload(settings: Settings, { server }: Pick<App, "server">, log: Logger): Promise<void> {
  try {
    const next = settings.reload();
    const use = await server.reload(next.config);
    use();
    next.accept();
    const { changed, needRestart } = next;
    const tell = (): void =>
      log[needRestart.length === 0 ? "info" : "warn"](
        { changed, need_restart: needRestart },
        "the settings were read again",
      );
    // By whichever of the two levels lets more through.
    const isTold = log.isLevelEnabled("info");
    if (isTold) tell();
    log.level = next.config.logLevel;
    if (!isTold) tell();
  } catch (error) {
    log.error({ mistakes: mistakesOf(error) }, "the settings cannot be used, nothing has changed");
  }
}

/** Reads the settings again whenever asked to by SIGHUP, one time after the other, once there is a server. */
export function reloadOnHangup(settings: Settings, log: Logger): (app: Pick<App, "server">) => void {
  let app: Pick<App, "server"> | undefined;
  let last = Promise.resolve();
  process.on("SIGHUP", () => {
    last = last
      .then(async () => (app === undefined ? undefined : reload(settings, app, log)))
      .catch((err: unknown) => log.error({ err }, "the settings cannot be read again"));
  });
  return (started) => {
    app = started;
  };
}
