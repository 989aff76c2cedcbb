import { setTimeout as delay } from "node:timers/promises";

import { Counter, Registry } from "prom-client";

import type { OpenTarget } from "../domain/actions.ts";

/**
 * How an attempt at a delivery ended: the target took it, it is to be tried again, or it was the last one.
 */
export type AttemptOutcome = "delivered" | "failed" | "given_up";

/** Figures that modules keep, and where all of the program's are collected. */
export interface Metrics {
  registry: Registry;
  deliveryAttempts: Counter<"target" | "outcome">;
}

const targets: readonly OpenTarget["type"][] = ["WEBHOOK", "SLACK", "EMAIL"];
const outcomes: readonly AttemptOutcome[] = ["delivered", "failed", "given_up"];

/** Whoever reads figures does not wait longer for one of them, in milliseconds. */
const patienceMs = 1000;

/** What the database tells, if it does so soon; undefined otherwise. */
export async function askedSoon<T>(ask: () => Promise<T>): Promise<T | undefined> {
  const silence = new AbortController();
  const unknown = delay(patienceMs, undefined, { signal: silence.signal, ref: false });
  try {
    return await Promise.race([ask(), unknown]);
  } catch {
    return undefined;
  } finally {
    silence.abort();
    unknown.catch(() => {});
  }
}

/** Figures of one program, all of them zero. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const deliveryAttempts = new Counter({
    name: "waybill_notification_attempts_total",
    help: "Attempts at deliveries of notifications, by type of target and outcome",
    labelNames: ["target", "outcome"],
    registers: [registry],
  });
  // Shown before the first one, so that an increase is seen from the beginning.
  for (const target of targets) for (const outcome of outcomes) deliveryAttempts.inc({ target, outcome }, 0);
  return { registry, deliveryAttempts };
}
