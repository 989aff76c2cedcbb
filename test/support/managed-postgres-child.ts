import { silentLog } from "../../src/lib/log.ts";
import { startManagedPostgres } from "../../src/db/managed/index.ts";

// A server in miniature, to be killed: starts PostgreSQL on the directory given, says so, and waits.
const dataDir = process.argv[2] ?? "";
try {
  await startManagedPostgres({ dataDir, log: silentLog, settings: { fsync: "off" } });
  console.log("ready");
} catch (error) {
  console.log(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
