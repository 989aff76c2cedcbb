import { createApp } from "../../src/app.ts";
import { startFirstTime } from "../../src/cli/first-start.ts";
import { readConfig } from "../../src/config.ts";
import { createLogger } from "../../src/lib/log.ts";

/**
 * The server, with background jobs that no server has: one that kills it, one that is slow, one that is no trouble. Run
 * in a process of its own.
 */
const config = readConfig();
const log = createLogger(config.logLevel, process.stdout);
const app = await createApp(config, {
  log,
  tasks: {
    kill: () => void process.kill(process.pid, "SIGKILL"),
    slow: (payload) => new Promise((done) => setTimeout(done, (payload as { ms: number }).ms)),
    harmless: () => {},
  },
});
await startFirstTime(app.deps);
await app.listen();
process.once("SIGTERM", () => void app.stop());
