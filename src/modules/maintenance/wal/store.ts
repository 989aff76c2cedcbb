import type { Executor } from "../../../db/connect.ts";
import { float, integer, nullable, type RowOf } from "../../../db/row.ts";
import { query } from "../../../db/sql.ts";

const archiver = {
  /** Files of the log that wait for being archived. */
  waiting: integer,
  /** Unix seconds. */
  last_archived: nullable(float),
  last_failed: nullable(float),
  database_bytes: integer,
};

/** Reads what PostgreSQL says of its archiving, since it was last started after a crash. */
export function readArchiver(db: Executor): Promise<RowOf<typeof archiver>> {
  return db.one(query(archiver)`
    select (select count(*) from pg_ls_archive_statusdir() where name like '%.ready') as waiting,
      extract(epoch from last_archived_time)::float8 as last_archived,
      extract(epoch from last_failed_time)::float8 as last_failed,
      pg_database_size(current_database()) as database_bytes
    from pg_stat_archiver`);
}
