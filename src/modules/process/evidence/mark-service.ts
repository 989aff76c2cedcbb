import { randomUUID } from "node:crypto";

import type { Database, Tx } from "../../../db/connect.ts";
import {
  endSharedEvidence,
  lockEvidenceMark,
  noteEvidenceMark,
  noteSharedEvidence,
  proposeEvidenceMark,
} from "../../../db/evidence-mark.ts";
import { transaction } from "../../../db/transaction.ts";
import type { EvidenceStore } from "../../../evidence/store.ts";

/** Why a server must not work with its store of evidence, in a sentence for who runs the installation. */
export class ForeignEvidenceError extends Error {}

interface MarkDeps {
  db: Database;
  evidence: Pick<EvidenceStore, "mark">;
}

/**
 * Makes sure that all servers on a database share one store of evidence: the first one marks its own, and whoever has one without that mark is
 * refused, instead of losing what the others received, or removing it as unknown.
 * @throws ForeignEvidenceError
 */
export async function requireKnownEvidence({ db, evidence: { mark: store } }: MarkDeps): Promise<void> {
  await proposeEvidenceMark(db, randomUUID());
  await transaction(db, async (tx) => {
    const { mark, written } = await lockEvidenceMark(tx);
    const found = await store.read();
    if (found === undefined && !written) await store.write(mark);
    else if (found === undefined)
      throw new ForeignEvidenceError(
        `This is not where the evidence of this database is kept: ${store.place} is missing. Is a disk not mounted, or is this another folder or bucket than that of the other servers? If the evidence was moved here, write ${mark} there.`,
      );
    else if (found !== mark)
      throw new ForeignEvidenceError(
        written
          ? `This is where another installation keeps its evidence: ${store.place} says ${found}, and that of this database says ${mark}. If that installation is no more: \`waybill admin evidence take-over\``
          : `Another installation keeps its evidence here: ${store.place} says so. If that is no more, remove it.`,
      );
    if (!written) await noteEvidenceMark(tx, mark);
  });
}

/** What a restore knows of the evidence that its rows name. */
interface RestoredEvidence {
  /** The moment, in ISO 8601, that was restored. */
  asOf: string;
  /** Whether the files came along; else the rows refer to those that are where they were. */
  bringsFiles: boolean;
}

/**
 * Takes a store for that of a database into which a backup was restored. One that is marked, or whose files did not come along, may be that of the installation
 * that was backed up as well: what that one received later is unknown here, so until `takeOverEvidence` nothing is removed as unknown. One that is not
 * marked gets a mark of its own, with which the copy is refused where the original keeps its evidence.
 * @returns whether another installation may work with the store.
 */
export async function takeEvidence(
  { db, evidence: { mark: store } }: MarkDeps,
  { asOf, bringsFiles }: RestoredEvidence,
): Promise<boolean> {
  await proposeEvidenceMark(db, randomUUID());
  return transaction(db, async (tx) => {
    await lockEvidenceMark(tx);
    const found = await store.read();
    const isShared = found !== undefined || !bringsFiles;
    if (isShared) await noteSharedEvidence(tx, asOf);
    else await endSharedEvidence(tx);
    if (!bringsFiles) return isShared;
    const mark = found ?? randomUUID();
    if (found === undefined) await store.write(mark);
    await noteEvidenceMark(tx, mark);
    return isShared;
  });
}

/**
 * Takes a marked store for that of this database alone, once the installation that it may have been shared with is gone.
 * @param record called in the transaction, where that changes something.
 * @returns whether it did.
 * @throws ForeignEvidenceError where the store has no mark, and so is nobody's.
 */
export async function takeOverEvidence(
  { db, evidence: { mark: store } }: MarkDeps,
  record: (tx: Tx) => void,
): Promise<boolean> {
  await proposeEvidenceMark(db, randomUUID());
  return transaction(db, async (tx) => {
    const { mark, written } = await lockEvidenceMark(tx);
    const found = await store.read();
    if (found === undefined)
      throw new ForeignEvidenceError(`There is no evidence to take over: ${store.place} is missing.`);
    await noteEvidenceMark(tx, found);
    const isChanged = (await endSharedEvidence(tx)) || !written || mark !== found;
    if (isChanged) record(tx);
    return isChanged;
  });
}
