import { Counter, Gauge, Registry } from "prom-client";

import type { OpenTarget } from "../../domain/actions.ts";
import { answerWithin } from "../../lib/answer-within.ts";
import type { WaitingItems } from "../../lib/batcher.ts";
import type { Tracing } from "../../lib/tracing/tracing.ts";

/**
 * How an attempt at a delivery ended: the target took it, it is to be tried again, or it was the last one.
 */
export type AttemptOutcome = "delivered" | "failed" | "given_up";

/** Organizations that counters name at most. */
const mostOrganizations = 200;

/** What further ones are called together; no organization can be. */
const others = "(other)";

/** The label of counters that are divided by organization where the operator wants that. */
interface OrgLabel {
  /** Names of labels: `org`, or none. */
  names: "org"[];
  /**
   * Makes the label of an organization: its name, or `(other)` once there are too many; none without one. Only of organizations that exist: a
   * caller must not make up names.
   */
  of(name: string | undefined): { org?: string };
}

/** Makes what divides counters by organization, or does not. @param most how many are named. */
export function createOrgLabel(isOn: boolean, most = mostOrganizations): OrgLabel {
  const named = new Set<string>();
  return {
    names: isOn ? ["org"] : [],
    of: (name) => {
      if (!isOn || name === undefined) return {};
      if (named.size < most) named.add(name);
      return { org: named.has(name) ? name : others };
    },
  };
}

/** Figures that modules keep, and where all of the program's are collected. */
export interface Metrics {
  registry: Registry;
  /** The label of counters that are divided by organization. */
  orgs: OrgLabel;
  deliveryAttempts: Counter<"target" | "outcome" | "org">;
  signIns: Counter<"method" | "outcome">;
  /** Queues of what is written or looked up together, by what waits in them. */
  queues: Record<QueueName, Set<WaitingItems>>;
  /** Sign-ins with a link for an emergency. */
  breakGlass: Counter;
}

const queueNames = ["reports", "callers"] as const;
type QueueName = (typeof queueNames)[number];

/** Shows how many wait in the queues of each name, and for how long the first of them has. */
function showQueues(registry: Registry, queues: Metrics["queues"]): void {
  const show = (name: string, help: string, read: (all: Iterable<WaitingItems>) => number): void => {
    const gauge: Gauge<"queue"> = new Gauge({
      name,
      help,
      labelNames: ["queue"],
      registers: [registry],
      collect: () => {
        for (const queue of queueNames) gauge.set({ queue }, read(queues[queue]));
      },
    });
  };
  show(
    "waybill_batch_waiting",
    "Reports that wait to be written together, and callers to be looked up together, in this server",
    (all) => Array.from(all).reduce((sum, { waiting }) => sum + waiting, 0),
  );
  show(
    "waybill_batch_waiting_seconds",
    "For how long the first of those has waited",
    (all) => Array.from(all).reduce((most, queue) => Math.max(most, queue.waitedMs()), 0) / 1000,
  );
}

/** Shows how many spans were lost. Once for a program. */
export function showTraces({ metrics, tracing }: { metrics: Metrics; tracing: Tracing | undefined }): void {
  const counter: Counter = new Counter({
    name: "waybill_trace_spans_dropped_total",
    help: "Spans of traces that were recorded and not exported: too many waited, or the collector did not take them",
    registers: [metrics.registry],
    collect: () => {
      counter.reset();
      counter.inc(tracing?.dropped ?? 0);
    },
  });
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

/** Makes the figures of one program, all of them zero. @param byOrg whether some are divided by organization. */
export function createMetrics(byOrg = false): Metrics {
  const registry = new Registry();
  const orgs = createOrgLabel(byOrg);
  const deliveryAttempts = new Counter<"target" | "outcome" | "org">({
    name: "waybill_notification_attempts_total",
    help: "Attempts at deliveries of notifications, by type of target and outcome",
    labelNames: ["target", "outcome", ...orgs.names],
    registers: [registry],
  });
  // Shown before the first one, so that an increase is seen from the beginning.
  if (!byOrg)
    for (const target of targets)
      for (const outcome of outcomes) deliveryAttempts.inc({ target, outcome }, 0);
  const signIns = new Counter({
    name: "waybill_sign_ins_total",
    help: "Attempts to sign in, by what was sent and outcome",
    labelNames: ["method", "outcome"],
    registers: [registry],
  });
  for (const method of signInMethods)
    for (const outcome of signInOutcomes) signIns.inc({ method, outcome }, 0);
  const breakGlass = new Counter({
    name: "waybill_break_glass_total",
    help: "Sign-ins with a link that was made at the command line for the public URL",
    registers: [registry],
  });
  const queues = { reports: new Set<WaitingItems>(), callers: new Set<WaitingItems>() };
  showQueues(registry, queues);
  return { registry, orgs, deliveryAttempts, signIns, queues, breakGlass };
}
