import { type Finding, type HealthReport, worstStatus } from "../../domain/health.ts";
import { answerWithin } from "../../lib/answer-within.ts";
import type { Timestamp } from "../../lib/clock.ts";
import type { Logger } from "../../lib/log.ts";

/** What is known of how the instance stands. */
export interface HealthChecks {
  /** Registers a check, which is made when somebody asks. Once for a program, for each name. */
  add(name: string, look: Look, options?: CheckOptions): void;
  /** Makes all checks that nobody made a moment ago, and answers within 1.5 seconds whatever they do. */
  report(): Promise<HealthReport>;
}

type Look = () => Promise<Finding> | Finding;

interface CheckOptions {
  /** Milliseconds for which a finding stands for those who ask later; 2 seconds when left out. */
  goodForMs?: number;
}

export interface HealthOptions {
  /** Of the program. */
  version: string;
  now: () => Timestamp;
  log: Pick<Logger, "warn" | "info">;
  /** Milliseconds that a check is waited for; 1.5 seconds when left out. */
  patienceMs?: number;
}

const standardPatienceMs = 1_500;
const standardGoodForMs = 2_000;

class Check {
  readonly name: string;
  readonly #look: Look;
  readonly #goodForMs: number;
  readonly #options: HealthOptions;
  /** Never more than one: one that hangs is not joined by others. */
  #running: Promise<Finding> | undefined;
  #last: { finding: Finding; at: number } | undefined;
  #told: { status: Finding["status"]; since: Timestamp } | undefined;

  constructor(name: string, look: Look, goodForMs: number, options: HealthOptions) {
    this.name = name;
    this.#look = look;
    this.#goodForMs = goodForMs;
    this.#options = options;
  }

  async #run(): Promise<Finding> {
    let finding: Finding;
    try {
      finding = await this.#look();
    } catch (err) {
      this.#options.log.warn({ err, check: this.name }, "a health check failed");
      finding = { status: "failing", detail: "could not be checked: the log says why" };
    }
    this.#last = { finding, at: performance.now() };
    this.#running = undefined;
    return finding;
  }

  #finding(): Promise<Finding> | Finding {
    if (this.#last !== undefined && performance.now() - this.#last.at < this.#goodForMs)
      return this.#last.finding;
    this.#running ??= this.#run();
    const { patienceMs = standardPatienceMs } = this.#options;
    return answerWithin(patienceMs, this.#running, () => ({
      status: "failing" as const,
      detail: `no answer within ${patienceMs / 1000} s`,
    }));
  }

  async report(): Promise<HealthReport["checks"][number]> {
    const { status, detail } = await this.#finding();
    if (this.#told?.status !== status) {
      const before = this.#told?.status;
      this.#told = { status, since: this.#options.now() };
      if (before !== undefined || status !== "ok")
        this.#options.log[status === "ok" ? "info" : "warn"](
          { check: this.name, status, detail },
          "health changed",
        );
    }
    return { name: this.name, status, detail, since: this.#told.since };
  }
}

/** Makes what checks are registered with. Those who ask at a time share the checks. */
export function createHealthChecks(options: HealthOptions): HealthChecks {
  const checks = new Map<string, Check>();
  return {
    add: (name, look, { goodForMs = standardGoodForMs } = {}) => {
      if (checks.has(name)) throw new Error(`There are two health checks called ${name}`);
      checks.set(name, new Check(name, look, goodForMs, options));
    },
    report: async () => {
      const found = await Promise.all(Array.from(checks.values(), (check) => check.report()));
      return {
        status: worstStatus(found.map(({ status }) => status)),
        version: options.version,
        checks: found,
      };
    },
  };
}
