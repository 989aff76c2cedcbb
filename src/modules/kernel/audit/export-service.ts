import { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";

import { auditLine, auditMediaTypes } from "../../../domain/audit-forms/lines.ts";
import type { AuditFormat } from "../../../domain/audit-forms/record.ts";
import { type Endpoint, Pause } from "../../../contract/endpoint.ts";
import { transaction } from "../../../db/transaction.ts";
import { AppError, overloaded } from "../../../domain/errors.ts";
import { attachmentDisposition } from "../../../domain/evidence-file.ts";
import type { Actor } from "../../../domain/principal.ts";
import { FailureLimit } from "../../../lib/failure-limit.ts";
import type { Call } from "../call.ts";
import type { Deps } from "../deps.ts";
import { keptByProgram } from "../program-deps.ts";
import { appendRecord, recordInstanceEntry } from "./service.ts";
import { type AuditRow, listAuditEntriesAfter, readLastNumber } from "./store.ts";

/** Whose log it is: an organization's, or the one of the instance, which has no name. */
interface AuditLogOwner {
  id: string;
  name: string | null;
}

/** Which entries are wanted. */
export interface AuditExport {
  format: AuditFormat;
  /** Numbers of the first and the last entry. */
  from_seq: number;
  to_seq?: number | undefined;
  /** Goes on for a while with what is recorded meanwhile. */
  follow: boolean;
}

/** How long an export goes on at the end of the log, how often it looks there, in milliseconds, and how many do so on a server. */
export const followPace = { ms: 60_000, lookMs: 500, atOnce: 250 };

/** Entries that are read at a time. */
const batch = 500;

/** Lines that are given out in one piece. */
const linesTogether = 100;

/** Exports of one log that may be under way on a server. */
const mostAtOnce = 2;

/** How many exports of each log are under way, and how many of all follow. */
const underWay = keptByProgram(() => ({ byLog: new Map<string, number>(), following: 0 }));

/**
 * Counts an export. @returns what is to be called when it ends.
 * @throws AppError rate_limited when there are too many of the log, unavailable when there are too many that follow.
 */
function begin(deps: Deps, orgId: string, follow: boolean): () => void {
  const counts = underWay(deps);
  const others = counts.byLog.get(orgId) ?? 0;
  if (others >= mostAtOnce)
    throw new AppError("rate_limited", "Two exports of this log are under way already, try again later");
  if (follow && counts.following >= followPace.atOnce) throw overloaded();
  const count = (by: number): void => {
    const left = (counts.byLog.get(orgId) ?? 0) + by;
    if (left === 0) counts.byLog.delete(orgId);
    else counts.byLog.set(orgId, left);
    if (follow) counts.following += by;
  };
  count(1);
  let isOpen = true;
  return () => {
    if (isOpen) count(-1);
    isOpen = false;
  };
}

/** Writes an entry as it leaves the installation. */
export function writeEntry(
  deps: Pick<Deps, "version">,
  org: string | null,
  row: AuditRow,
  format: AuditFormat,
) {
  return auditLine({ org, ...row }, format, deps.version);
}

/**
 * Reads the entries after one up to another, in order, some at a time. A connection is used for each batch alone.
 * @param until number of the last one.
 */
export async function* readEntries(
  deps: Pick<Deps, "db">,
  orgId: string,
  { after, until }: { after: number; until: number },
): AsyncGenerator<AuditRow[]> {
  for (let last = after; last < until;) {
    const page = { after: last, limit: Math.min(batch, until - last), sort_direction: "asc" } as const;
    const rows = await deps.db.sliced(() => listAuditEntriesAfter(deps.db, orgId, {}, page));
    const end = rows.at(-1);
    if (end === undefined) return;
    yield rows;
    last = end.seq;
  }
}

/** Which log is given out, and to whom. */
interface Exporting {
  log: AuditLogOwner;
  actor: Actor;
}

/** The same, where it may take long. */
type LongExporting = Exporting & Pick<Call<Endpoint>, "authorizeAgain">;

/** Says whether who is given a log may still be. */
async function mayGoOn({ authorizeAgain }: LongExporting): Promise<boolean> {
  try {
    await authorizeAgain();
    return true;
  } catch (error) {
    if (error instanceof AppError) return false;
    throw error;
  }
}

/**
 * Gives the lines that are wanted, and pauses while it waits for more. It ends when there is more, and who asked may not have it any more.
 * @param head number of the last entry when it began.
 */
async function* linesOf(
  deps: Deps,
  exporting: LongExporting,
  { head, ...wanted }: AuditExport & { head: number },
): AsyncGenerator<string | Pause> {
  const { log } = exporting;
  const most = wanted.to_seq ?? Number.MAX_SAFE_INTEGER;
  let last = wanted.from_seq - 1;
  let stopAt: number | undefined;
  for (let end = head; ;) {
    const until = Math.min(most, end);
    for await (const rows of readEntries(deps, log.id, { after: last, until }))
      for (let from = 0; from < rows.length; from += linesTogether) {
        const some = rows.slice(from, from + linesTogether);
        yield some.map((row) => `${writeEntry(deps, log.name, row, wanted.format)}\n`).join("");
        last = some.at(-1)?.seq ?? last;
      }
    stopAt ??= performance.now() + followPace.ms;
    const isOver = last >= most || performance.now() >= stopAt || deps.stopping.signal.aborted;
    if (!wanted.follow || isOver) return;
    const pause = delay(followPace.lookMs, undefined, { signal: deps.stopping.signal }).catch(() => {});
    yield new Pause(pause);
    // What sends asks for the next piece before it needs it.
    await pause;
    end = await readLastNumber(deps.db, log.id);
    // Asked last: what the number counts was recorded while they still might have it.
    if (end > last && !(await mayGoOn(exporting))) return;
  }
}

/**
 * Who follows a log comes back every minute. That is told once an hour for a key or session and a log: each time it would be the log's
 * own largest part.
 */
const followers = keptByProgram(() => new FailureLimit({ max: 1, windowSeconds: 3600 }));

/** Records in a log that it is given out: in which form, and which part. */
export async function recordExport(
  deps: Pick<Deps, "db" | "clock">,
  { log, actor }: Exporting,
  details: Record<string, string | number | boolean>,
): Promise<void> {
  const entry = { resource_type: "audit_log", resource: log.name ?? "instance", details };
  if (log.name === null) await recordInstanceEntry(deps, { actor, action: "export", ...entry });
  else
    await transaction(deps.db, async (tx) =>
      appendRecord(deps, tx, { org: log, actor: { ...actor, action: "export" } }, entry),
    );
}

/** Records an export, unless it follows the log and was told of not long ago. */
async function tellOf(deps: Deps, exporting: Exporting, wanted: AuditExport): Promise<void> {
  const { format, from_seq, to_seq, follow } = wanted;
  const { log, actor } = exporting;
  const part = { from_seq, ...(to_seq === undefined ? {} : { to_seq }) };
  if (!follow) return recordExport(deps, exporting, { format, ...part });
  const who = `${log.id} ${actor.id} ${actor.api_key_id}`;
  const attempt = followers(deps).begin(who, deps.clock.now());
  if (!attempt.admitted) return;
  try {
    await recordExport(deps, exporting, { format, ...part, follow });
  } catch (error) {
    // Nothing is given out now; the next time is the first one still.
    attempt.pardon();
    throw error;
  }
}

/** What files are called by their format. */
const endings: Record<AuditFormat, string> = { jsonl: "jsonl", cef: "cef", ocsf: "ocsf.jsonl" };

/**
 * Gives out a log as lines, made while they are sent, once it is recorded that somebody takes it out.
 * @throws AppError rate_limited when two exports of it are under way, unavailable when too many follow some log.
 */
export async function exportAuditLog(
  deps: Deps,
  exporting: LongExporting,
  wanted: AuditExport,
): Promise<{ body: Readable; headers: Record<string, string> }> {
  const { log } = exporting;
  const { format } = wanted;
  const end = begin(deps, log.id, wanted.follow);
  let head: number;
  try {
    // Before it is recorded: what is given out does not tell of itself.
    head = await readLastNumber(deps.db, log.id);
    await tellOf(deps, exporting, wanted);
  } catch (error) {
    end();
    throw error;
  }
  const body = Readable.from(linesOf(deps, exporting, { ...wanted, head }), {
    objectMode: true,
    highWaterMark: 1,
  });
  body.once("close", end);
  const name = `${log.name ?? "instance"}-audit-log.${endings[format]}`;
  return {
    body,
    headers: {
      "content-type": auditMediaTypes[format],
      "content-disposition": attachmentDisposition(name),
      "cache-control": "no-store",
      // Proxies are asked to pass lines on when they come.
      "x-accel-buffering": "no",
    },
  };
}
