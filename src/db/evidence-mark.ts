import type { Executor, Tx } from "./connect.ts";
import { deleteSetting, findSetting, proposeSetting, putSetting } from "./instance-settings.ts";
import { text } from "./row.ts";
import { query, sql } from "./sql.ts";

const setting = "evidence_mark";

/** Stands before a mark that no store has yet. */
const unwritten = "new ";

/** What the evidence of a database is marked with. */
interface EvidenceMark {
  mark: string;
  /** Whether it was written into a store. */
  written: boolean;
}

/** Notes what the evidence of a database is to be marked with, unless that is known. Survives a crash before the mark is written. */
export function proposeEvidenceMark(db: Executor, mark: string): Promise<void> {
  return proposeSetting(db, setting, unwritten + mark);
}

/** Reads what the evidence is marked with, and keeps other servers from doing so until the transaction ends. Needs a mark that was proposed. */
export async function lockEvidenceMark(tx: Tx): Promise<EvidenceMark> {
  const { value } = await tx.one(query({ value: text })`
    select value from instance_settings where name = ${setting} for update`);
  const written = !value.startsWith(unwritten);
  return { mark: written ? value : value.slice(unwritten.length), written };
}

/** Notes that a store has this mark. */
export async function noteEvidenceMark(tx: Tx, mark: string): Promise<void> {
  await tx.run(sql`update instance_settings set value = ${mark} where name = ${setting}`);
}

const sharing = "evidence_shared";

/** Notes that another installation may name evidence of the same store. @param since the moment, in ISO 8601, from which on the two go apart. */
export function noteSharedEvidence(db: Executor, since: string): Promise<void> {
  return putSetting(db, sharing, since);
}

/** Reads since when another installation may name evidence that is unknown here, in ISO 8601; undefined where none does. */
export function findSharedEvidence(db: Executor): Promise<string | undefined> {
  return findSetting(db, sharing);
}

/** Notes that no other installation names evidence of the store. @returns whether one was thought to. */
export function endSharedEvidence(db: Executor): Promise<boolean> {
  return deleteSetting(db, sharing);
}
