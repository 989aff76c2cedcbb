import { finished } from "node:stream/promises";

import type { Executor } from "../../../db/connect.ts";
import { findSharedEvidence } from "../../../db/evidence-mark.ts";
import { findCleanedEvidence, noteCleanedEvidence } from "../../../db/cleaned-evidence.ts";
import { transaction } from "../../../db/transaction.ts";
import { ContentDamaged, ContentMissing, type ListedContent } from "../../../evidence/store.ts";
import type { Deps } from "../../kernel/deps.ts";
import { holdRemovals, listContents, listReferred, lockOrphan, tryRemoval } from "./store.ts";

type VerifyDeps = Pick<Deps, "evidence" | "db">;

/** What is wrong with one content. */
export type Finding = { sha256: string; problem: "missing" | "damaged" | "unreadable" };

/** What disks and permissions do to a single file; anything else concerns the storage as a whole. */
const unreadable = new Set(["EIO", "EACCES", "EPERM", "EISDIR"]);

const pageSize = 500;

async function checkOne(deps: VerifyDeps, sha256: string): Promise<Finding | undefined> {
  try {
    await finished((await deps.evidence.open(sha256)).resume());
    return undefined;
  } catch (error) {
    if (error instanceof ContentMissing) return { sha256, problem: "missing" };
    if (error instanceof ContentDamaged) return { sha256, problem: "damaged" };
    if (unreadable.has((error as NodeJS.ErrnoException).code ?? "")) return { sha256, problem: "unreadable" };
    throw error;
  }
}

/** Lists every content that any organization has, in order of digest. */
export async function* listStored(db: Executor): AsyncGenerator<{ sha256: string; size: number }> {
  for (let after = ""; ;) {
    const page = await listContents(db, after, pageSize);
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < pageSize) return;
    after = last.sha256;
  }
}

/**
 * Reads every content that any organization has, and says of each whether it is as it was stored.
 * @throws whatever the storage fails with, when it cannot be read at all.
 */
export async function* verifyContents(
  deps: VerifyDeps,
): AsyncGenerator<{ size: number; finding: Finding | undefined }> {
  for await (const { sha256, size } of listStored(deps.db))
    yield { size, finding: await checkOne(deps, sha256) };
}

async function unreferred(deps: VerifyDeps, batch: ListedContent[]): Promise<ListedContent[]> {
  if (batch.length === 0) return [];
  const sha256s = batch.map((content) => content.sha256);
  const referred = new Set(await listReferred(deps.db, sha256s));
  return batch.filter((content) => !referred.has(content.sha256));
}

/** Some of the content, looked at together. */
interface LookedAt {
  orphans: ListedContent[];
  /** The address of the last one. */
  upTo: string;
}

/** Looks at all content after an address, some at a time. @param olderThanSeconds see `findOrphans`. */
async function* lookForOrphans(
  deps: VerifyDeps,
  olderThanSeconds: number,
  after: string,
): AsyncGenerator<LookedAt> {
  const before = Date.now() / 1000 - olderThanSeconds;
  const lookAt = async (batch: readonly ListedContent[], upTo: string): Promise<LookedAt> => {
    const old = batch.filter(({ modified_at }) => modified_at <= before);
    return { orphans: await unreferred(deps, old), upTo };
  };
  let batch: ListedContent[] = [];
  let upTo = after;
  for await (const content of deps.evidence.list(after)) {
    batch.push(content);
    upTo = content.sha256;
    if (batch.length < pageSize) continue;
    yield await lookAt(batch, upTo);
    batch = [];
  }
  yield await lookAt(batch, upTo);
}

/**
 * Finds content that no organization has, kept more than so many seconds ago: what crashes between bytes and row left.
 * Younger content may belong to a report that is being written.
 */
export async function* findOrphans(
  deps: VerifyDeps,
  olderThanSeconds: number,
): AsyncGenerator<ListedContent> {
  for await (const { orphans } of lookForOrphans(deps, olderThanSeconds, "")) yield* orphans;
}

/**
 * Removes an orphan, unless somebody refers to it by now. Writers of rows hold the same lock and look for the content
 * under it, so a row whose content was removed cannot come about. While a backup is made nothing is removed, nor while another
 * installation may refer to what is unknown here.
 * @returns whether it was removed.
 */
export function removeOrphan(deps: VerifyDeps, sha256: string): Promise<boolean> {
  return transaction(deps.db, async (tx) => {
    if (!(await tryRemoval(tx)) || (await findSharedEvidence(tx)) !== undefined) return false;
    await lockOrphan(tx, sha256);
    if ((await listReferred(tx, [sha256])).length > 0) return false;
    await deps.evidence.remove(sha256);
    return true;
  });
}

/** Keeps everybody from removing contents for as long as the connection lasts. Several may at once. */
export function keepContents(connection: Executor): Promise<void> {
  return holdRemovals(connection);
}

/** Says why no evidence is removed, and what ends that. @param since as `findSharedEvidence` gives it. */
export function sharedEvidenceText(since: string): string {
  return `This database was restored as of ${since}, and another installation may still keep its evidence in the same place: nothing is removed there. When that one is gone: \`waybill admin evidence take-over\``;
}

/** Files are named only when they are complete, so an unfinished upload is worth nothing after this. */
const abandonedAfterSeconds = 24 * 3600;

/** Removes orphans until the deadline, from where that ended the last time. @returns how many. */
async function removeOrphans(deps: VerifyDeps, deadline: number): Promise<number> {
  const isOver = (): boolean => Date.now() >= deadline;
  let removed = 0;
  for await (const { orphans, upTo } of lookForOrphans(
    deps,
    abandonedAfterSeconds,
    await findCleanedEvidence(deps.db),
  )) {
    let cleaned = upTo;
    for (const [at, { sha256 }] of orphans.entries()) {
      if (await removeOrphan(deps, sha256)) removed += 1;
      if (!isOver()) continue;
      if (at < orphans.length - 1) cleaned = sha256;
      break;
    }
    if (!isOver()) continue;
    await noteCleanedEvidence(deps.db, cleaned);
    return removed;
  }
  await noteCleanedEvidence(deps.db, "");
  return removed;
}

/**
 * Removes what crashes left, in time for a background job: at most `budgetMs`, but for one step. The next run goes on where this one stops; after
 * the last content it begins anew. Running it on several servers at once does no harm.
 */
export async function cleanEvidence(
  deps: Pick<Deps, "evidence" | "db" | "log">,
  budgetMs: number,
): Promise<void> {
  const deadline = Date.now() + budgetMs;
  const uploads = await deps.evidence.removeAbandoned(abandonedAfterSeconds);
  let orphans = 0;
  const since = await findSharedEvidence(deps.db);
  if (since !== undefined) deps.log.info({ since }, sharedEvidenceText(since));
  else orphans = await removeOrphans(deps, deadline);
  if (uploads + orphans > 0) deps.log.info({ uploads, orphans }, "removed what interrupted uploads left");
}
