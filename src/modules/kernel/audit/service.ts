import type { Readable } from "node:stream";

import type { Tx } from "../../../db/connect.ts";
import { type TransactionOptions, transaction } from "../../../db/transaction.ts";
import { type InstanceAction, instanceLogId } from "../../../domain/instance-log.ts";
import type { Actor } from "../../../domain/principal.ts";
import type { Deps } from "../deps.ts";
import {
  type AuditDetails,
  type AuditedResource,
  type AuditEntry,
  insertAuditCounter,
  insertAuditEntries,
} from "./store.ts";

export { auditJson } from "./store.ts";

/** Notes that the transaction wrote this resource. Call it once for each resource written. */
export type Recorder = (resourceType: string, resource: string) => void;

/** On whose behalf, in which organization. */
export interface Scope {
  org: { id: string };
  actor: Actor;
}

/** Like `Recorder`, for writes that several callers share. */
export type SharedRecorder = (actor: Actor, resourceType: string, resource: string) => void;

/**
 * Runs a write that serves several callers at once in one transaction, with the audit rows it recorded for each.
 * `work` may run again when transactions collide.
 */
export function recordedTogether<T>(
  deps: Pick<Deps, "db" | "clock">,
  orgId: string,
  work: (tx: Tx, record: SharedRecorder) => Promise<T>,
  options?: TransactionOptions,
): Promise<T> {
  const recording = async (tx: Tx): Promise<T> => {
    const entries: AuditEntry[] = [];
    const result = await work(tx, (actor, resource_type, resource) =>
      entries.push({ actor, resource_type, resource }),
    );
    insertAuditEntries(tx, orgId, entries, deps.clock.now());
    return result;
  };
  return transaction(deps.db, recording, options);
}

/**
 * Runs a write in one transaction and appends what it recorded to the audit log in the same one: both happen or
 * neither. A write that turns out to change nothing records nothing. `work` may run again when transactions collide.
 */
export function recorded<T>(
  deps: Pick<Deps, "db" | "clock">,
  scope: Scope,
  work: (tx: Tx, record: Recorder) => Promise<T>,
): Promise<T> {
  return recordedTogether(deps, scope.org.id, (tx, record) =>
    work(tx, (resourceType, resource) => record(scope.actor, resourceType, resource)),
  );
}

/**
 * Appends one row in a transaction that is the caller's own, because it makes the organization or spans several. The
 * organization's counter stays locked until the transaction ends: append last.
 */
export function appendRecord(
  deps: Pick<Deps, "clock">,
  tx: Tx,
  scope: Scope,
  resource: AuditedResource,
): void {
  insertAuditEntries(tx, scope.org.id, [{ actor: scope.actor, ...resource }], deps.clock.now());
}

/** An entry of the log of the instance. Its actor's own action, an operation or a command, gives way to `action`. */
export interface InstanceEntry extends AuditedResource {
  actor: Actor;
  action: InstanceAction;
  /** What else there is to say: names and numbers, never secrets and never what settings are set to. */
  details?: AuditDetails;
}

/**
 * Appends an entry to the log of the instance, in the transaction of what it tells of. The log's counter stays locked until
 * that ends: append last, after whatever is appended to an organization's log.
 */
export function appendInstanceEntry(deps: Pick<Deps, "clock">, tx: Tx, entry: InstanceEntry): void {
  const { action, actor, resource_type, resource, details } = entry;
  insertAuditCounter(tx, instanceLogId);
  insertAuditEntries(
    tx,
    instanceLogId,
    [{ actor: { ...actor, action }, resource_type, resource, details }],
    deps.clock.now(),
  );
}

/** Appends an entry to the log of the instance in a transaction of its own: for what writes nothing else, such as a refusal. */
export function recordInstanceEntry(deps: Pick<Deps, "db" | "clock">, entry: InstanceEntry): Promise<void> {
  return transaction(deps.db, async (tx) => appendInstanceEntry(deps, tx, entry));
}

/**
 * Gives out an answer once it is recorded that it was read, where the operator wants that (`WAYBILL_AUDIT_READS`). What was read
 * without being recorded is not given out.
 */
export async function withReadRecorded<Answer extends { body: Readable }>(
  deps: Pick<Deps, "db" | "clock" | "config">,
  scope: Scope,
  { resource_type, resource }: AuditedResource,
  answer: Answer,
): Promise<Answer> {
  if (!deps.config.auditReads) return answer;
  try {
    await recorded(deps, scope, async (_tx, record) => record(resource_type, resource));
    return answer;
  } catch (error) {
    answer.body.destroy();
    throw error;
  }
}
