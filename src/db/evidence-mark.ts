import type { Executor, Tx } from "./connect.ts";
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
export async function proposeEvidenceMark(db: Executor, mark: string): Promise<void> {
  await db.run(sql`
    insert into instance_settings (name, value) values (${setting}, ${unwritten + mark}) on conflict do nothing`);
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
