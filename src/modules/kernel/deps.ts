import type { Config } from "../../config.ts";
import type { Database } from "../../db/connect.ts";
import type { Replica } from "../../db/replica.ts";
import type { StatementTrace } from "../../db/statement-trace.ts";
import type { EvidenceStore } from "../../evidence/store.ts";
import type { Clock } from "../../lib/clock.ts";
import type { FailureLimit } from "../../lib/failure-limit.ts";
import type { IdSource } from "../../lib/ids.ts";
import type { Links } from "../../lib/links.ts";
import type { Logger } from "../../lib/log.ts";
import type { TimeGuard } from "../../lib/time-guard.ts";
import type { Tracing } from "../../lib/tracing/tracing.ts";
import type { Sandbox } from "../../lib/sandbox/sandbox.ts";
import type { SecretBox } from "../../lib/secret-box.ts";
import type { HealthChecks } from "./health.ts";
import type { Metrics } from "./metrics.ts";

/** What modules need from outside, built once by the composition root. */
export interface Deps {
  config: Config;
  /** The program's version. */
  version: string;
  /** Aborted when the server begins to stop: whatever waits for something to happen ends. */
  stopping: AbortController;
  db: Database;
  /** A replica of the database, for reads that say so in the contract; undefined when there is none. */
  replica: Replica | undefined;
  /** Gives no time that is in doubt. */
  clock: Clock;
  /** The same, where it says whether anything may be recorded now. */
  time: TimeGuard;
  ids: IdSource;
  log: Logger;
  links: Links;
  secrets: SecretBox;
  evidence: EvidenceStore;
  metrics: Metrics;
  /** How the instance stands. */
  health: HealthChecks;
  /** Who failed to sign in too often. */
  signInFailures: FailureLimit;
  /** Makes traces; undefined where nobody wants any. */
  tracing: Tracing | undefined;
  /**
   * Set for the work of one request or job: what its statements took, and the same for all of them, under which is kept what they share.
   */
  request: { trace: StatementTrace; shared: Deps } | undefined;
  /** Whose failures stand in the log of the instance already. */
  toldFailures: FailureLimit;
  /** Which keys were recorded not long ago as used from a wrong address: by key and address, and by key. */
  refusals: { address: FailureLimit; key: FailureLimit };
  /** Where programs and schemas given by users run. */
  sandbox: Sandbox;
}
