import type { Executor } from "../../../db/connect.ts";
import { integer, type RowOf, text } from "../../../db/row.ts";
import { query } from "../../../db/sql.ts";

const sizes = {
  /** Bytes of the whole database on its disk. */
  database: integer,
  /** Bytes of all files of evidence. */
  evidence: integer,
};

/** How much there is to back up. */
export type Sizes = RowOf<typeof sizes>;

/** Reads how much there is to back up. */
export function readSizes(db: Executor): Promise<Sizes> {
  return db.one(query(sizes)`
    select pg_database_size(current_database()) as database, (
      select coalesce(sum(size), 0)::bigint from (select max(size) as size from evidence group by sha256) as contents
    ) as evidence`);
}

/** Reads how many bytes the whole database takes. */
export async function readDatabaseSize(db: Executor): Promise<number> {
  const { bytes } = await db.one(query({ bytes: integer })`
    select pg_database_size(current_database()) as bytes`);
  return bytes;
}

/** Reads what tells this database from all others, for as long as its cluster is there. */
export async function readDatabaseIdentity(db: Executor): Promise<string> {
  const { identity } = await db.one(query({ identity: text })`
    select system_identifier || ' ' || current_database() as identity from pg_control_system()`);
  return identity;
}
