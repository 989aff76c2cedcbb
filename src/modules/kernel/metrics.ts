import { Counter, Gauge, Registry } from "prom-client";

import type { OpenTarget } from "../../domain/actions.ts";
import { answerWithin } from "../../lib/answer-within.ts";

/**
 * How an attempt at a delivery ended: the target took it, it is to be tried again, or it was the last one.
 */
export type AttemptOutcome = "delivered" | "failed" | "given_up";

/** Figures that modules keep, and where all of the program's are collected. */
export interface Metrics {
  registry: Registry;
  deliveryAttempts: Counter<"target" | "outcome">;
  signIns: Counter<"method" | "outcome">;
}

const targets: readonly OpenTarget["type"][] = ["WEBHOOK", "SLACK", "EMAIL"];
const outcomes: readonly AttemptOutcome[] = ["delivered", "failed", "given_up"];

/** What people sign in with. */
const signInMethods = ["api_key", "link", "invitation", "oidc"] as const;
export type SignInMethod = (typeof signInMethods)[number];

/** How an attempt to sign in ended; `limited` when the address had failed too often to be heard. */
const signInOutcomes = ["signed_in", "refused", "limited"] as const;

/** How long whoever reads figures waits for one of them, in milliseconds. */
const patienceMs = 1000;

/** Asks for a figure. @returns undefined when there is no answer within a second, or an error. */
export async function askedSoon<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await answerWithin(patienceMs, ask(), () => undefined);
  } catch {
    return undefined;
  }
}

/** Shows a figure that is read whenever somebody looks. Once for a program, for each name. */
export function showGauge(
  { registry }: Pick<Metrics, "registry">,
  { name, help }: { name: string; help: string },
  read: () => number | Promise<number>,
): void {
  const gauge: Gauge = new Gauge({
    name,
    help,
    registers: [registry],
    collect: async () => gauge.set(await read()),
  });
}

/** Makes the figures of one program, all of them zero. */
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
  const signIns = new Counter({
    name: "waybill_sign_ins_total",
    help: "Attempts to sign in, by what was sent and outcome",
    labelNames: ["method", "outcome"],
    registers: [registry],
  });
  for (const method of signInMethods)
    for (const outcome of signInOutcomes) signIns.inc({ method, outcome }, 0);
  return { registry, deliveryAttempts, signIns };
}
