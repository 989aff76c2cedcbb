import type { Config } from "../../config.ts";
import type { Database } from "../../db/connect.ts";
import type { Replica } from "../../db/replica.ts";
import type { EvidenceStore } from "../../evidence/store.ts";
import type { Clock } from "../../lib/clock.ts";
import type { FailureLimit } from "../../lib/failure-limit.ts";
import type { IdSource } from "../../lib/ids.ts";
import type { Links } from "../../lib/links.ts";
import type { Logger } from "../../lib/log.ts";
import type { TimeGuard } from "../../lib/time-guard.ts";
import type { Sandbox } from "../../lib/sandbox/sandbox.ts";
import type { SecretBox } from "../../lib/secret-box.ts";
import type { Metrics } from "./metrics.ts";

/** What modules need from outside, built once by the composition root. */
export interface Deps {
  config: Config;
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
  /** Who failed to sign in too often. */
  signInFailures: FailureLimit;
  /** Where programs and schemas given by users run. */
  sandbox: Sandbox;
}
