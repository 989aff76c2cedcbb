import type { Executor } from "../../../db/connect.ts";
import { float, nullable } from "../../../db/row.ts";
import { query, sql } from "../../../db/sql.ts";
import type { TimeRecords } from "../../../lib/time-guard.ts";

const record = { database: float, recorded: nullable(float), id_offset: float };

/** Makes what a guard of the time asks of the database. */
export function timeRecords(db: Executor): TimeRecords {
  return {
    exchange: (wall) =>
      db.one(query("exchange-time", record)`
        with kept as (
          insert into time_marks as known (recorded_at) select to_timestamp(${wall ?? null}::float8)
          where ${wall !== undefined}
          on conflict (one) do update set recorded_at = excluded.recorded_at
          -- Rarely enough to cost nothing.
          where known.recorded_at is null or known.recorded_at < excluded.recorded_at - interval '30 seconds'
        )
        select epoch(clock_timestamp())::float8 as database, epoch(m.recorded_at)::float8 as recorded,
          coalesce(m.id_offset, 0)::float8 as id_offset
        from (select true as one) asked left join time_marks m on m.one = asked.one`),
    raiseIdOffset: async (milliseconds) => {
      await db.run(sql`
        insert into time_marks as known (id_offset) values (${milliseconds}::bigint)
        on conflict (one) do update set id_offset = greatest(known.id_offset, excluded.id_offset)`);
    },
  };
}

/** Takes the database's clock for right, whatever was recorded before. @returns its time. */
export async function acceptDatabaseTime(db: Executor): Promise<number> {
  const { at } = await db.one(query({ at: float })`
    insert into time_marks as known (recorded_at) values (clock_timestamp())
    on conflict (one) do update set recorded_at = excluded.recorded_at
    returning epoch(recorded_at)::float8 as at`);
  return at;
}
