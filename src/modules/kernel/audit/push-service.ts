import { Gauge } from "prom-client";

import type { AuditTarget } from "../../../config-audit.ts";
import { transaction } from "../../../db/transaction.ts";
import { syslogFrame, syslogMessage } from "../../../domain/audit-forms/syslog.ts";
import { parseUrl } from "../../../lib/url.ts";
import type { Deps } from "../deps.ts";
import { askedSoon } from "../metrics.ts";
import {
  findLogName,
  findTimeAfter,
  listCursors,
  listLogLengths,
  upsertCursor,
  upsertTargets,
} from "./cursor-store.ts";
import { readEntries, writeEntry } from "./export-service.ts";
import { sendLines } from "./send-lines.ts";
import type { AuditRow } from "./store.ts";

/** How long one run may begin to send something, and how long a target may take for that, in milliseconds. */
const pushPace = { runMs: 45_000, timeoutMs: 10_000 };

/** A log that has entries which a target has not got. */
interface Backlog {
  org_id: string;
  /** Numbers of the last entry that the target has, and of the last one there is. */
  sent: number;
  last: number;
}

/** Lists the logs of which a target has not got everything. */
async function listBacklogs({ db }: Pick<Deps, "db">, target: AuditTarget): Promise<Backlog[]> {
  const sent = new Map((await listCursors(db, target.id)).map(({ org_id, seq }) => [org_id, seq]));
  const lengths = await listLogLengths(db);
  return lengths
    .map(({ org_id, audit_seq }) => ({ org_id, sent: sent.get(org_id) ?? 0, last: audit_seq }))
    .filter(({ sent: from, last }) => from < last);
}

/** Entries that are sent at once, at least as long as there are so many. */
const sentTogether = 500;

/** Entries of some logs on their way to a target, each log's in order. */
class Parcel {
  readonly lines: string[] = [];
  readonly #frames: Buffer[] = [];
  /** The last number of each log. */
  readonly #ends = new Map<string, number>();
  readonly #deps: Deps;
  readonly #target: AuditTarget;

  constructor(deps: Deps, target: AuditTarget) {
    this.#deps = deps;
    this.#target = target;
  }

  add(log: { org_id: string; name: string | null }, rows: readonly AuditRow[]): void {
    const host = parseUrl(this.#deps.config.publicUrl)?.hostname ?? "";
    const { kind, format } = this.#target;
    for (const row of rows) {
      const line = writeEntry(this.#deps, log.name, row, format);
      this.lines.push(line);
      if (kind === "syslog")
        this.#frames.push(syslogFrame(syslogMessage({ org: log.name, ...row }, line, host)));
      this.#ends.set(log.org_id, row.seq);
    }
  }

  /** Sends it, then notes that it arrived. Who is killed between the two sends it again. */
  async send(): Promise<void> {
    const { auditToken: token, auditCa: ca } = this.#deps.config;
    const { lines } = this;
    if (lines.length === 0) return;
    const batch = { lines, frames: Buffer.concat(this.#frames) };
    await sendLines(this.#target, batch, { token, ca, timeoutMs: pushPace.timeoutMs });
    await transaction(this.#deps.db, async (tx) => {
      for (const [orgId, seq] of this.#ends) await upsertCursor(tx, orgId, this.#target.id, seq);
    });
  }
}

/** Sends a target all that it has not got by now. @throws Error when it does not take it. */
async function pushTo(deps: Deps, target: AuditTarget, ending: AbortSignal): Promise<void> {
  let parcel = new Parcel(deps, target);
  for (const { org_id, sent, last } of await listBacklogs(deps, target)) {
    const name = (await findLogName(deps.db, org_id)) ?? null;
    for await (const rows of readEntries(deps, org_id, { after: sent, until: last })) {
      parcel.add({ org_id, name }, rows);
      if (parcel.lines.length < sentTogether) continue;
      await parcel.send();
      parcel = new Parcel(deps, target);
      if (ending.aborted) return;
    }
  }
  await parcel.send();
}

/**
 * Sends entries of all audit logs to each target that has not got them, for most of a minute at most. Targets that take nothing keep no
 * other waiting, and get everything the next time.
 */
export async function pushAuditLogs(deps: Deps): Promise<void> {
  await upsertTargets(deps.db, deps.config.auditTargets, deps.clock.now());
  const ending = AbortSignal.any([deps.stopping.signal, AbortSignal.timeout(pushPace.runMs)]);
  await Promise.all(
    deps.config.auditTargets.map((target) =>
      pushTo(deps, target, ending).catch((err: unknown) =>
        deps.log.warn({ err, target: target.name }, "entries of audit logs cannot be sent"),
      ),
    ),
  );
}

/** Logs that are looked into to find out how far behind a target is. */
const mostLookedInto = 100;

/** Finds how old the oldest entry is that a target has not got, in seconds; 0 when it has all. */
export async function auditLagOf(deps: Pick<Deps, "db" | "clock">, target: AuditTarget): Promise<number> {
  const now = deps.clock.now();
  const backlogs = await listBacklogs(deps, target);
  let oldest = now;
  for (const { org_id, sent } of backlogs.slice(0, mostLookedInto))
    oldest = Math.min(oldest, (await findTimeAfter(deps.db, org_id, sent)) ?? oldest);
  return now - oldest;
}

/** Shows how far behind each target is, found out whenever somebody looks. Once for a program. */
export function showAuditLag(deps: Deps): void {
  const { auditTargets } = deps.config;
  if (auditTargets.length === 0) return;
  const gauge: Gauge<"target"> = new Gauge({
    name: "waybill_audit_export_lag_seconds",
    help: "Age of the oldest entry of an audit log that a target has not got, 0 when it has all",
    labelNames: ["target"],
    registers: [deps.metrics.registry],
    collect: async () => {
      for (const target of auditTargets)
        gauge.set({ target: target.name }, (await askedSoon(() => auditLagOf(deps, target))) ?? Number.NaN);
    },
  });
}
