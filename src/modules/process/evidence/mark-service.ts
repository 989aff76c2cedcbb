import { randomUUID } from "node:crypto";

import type { Database } from "../../../db/connect.ts";
import { lockEvidenceMark, noteEvidenceMark, proposeEvidenceMark } from "../../../db/evidence-mark.ts";
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
          ? `This is where another installation keeps its evidence: ${store.place} says ${found}, and that of this database says ${mark}.`
          : `Another installation keeps its evidence here: ${store.place} says so. If that is no more, remove it.`,
      );
    if (!written) await noteEvidenceMark(tx, mark);
  });
}

/** Takes a store for that of a database into which a backup was restored with its evidence, whatever either was marked with. */
export async function takeEvidence({ db, evidence: { mark: store } }: MarkDeps): Promise<void> {
  await proposeEvidenceMark(db, randomUUID());
  await transaction(db, async (tx) => {
    const { mark } = await lockEvidenceMark(tx);
    const found = await store.read();
    if (found === undefined) await store.write(mark);
    await noteEvidenceMark(tx, found ?? mark);
  });
}
