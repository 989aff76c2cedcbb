import { raw, type Sql, sql } from "../../../db/sql.ts";

/**
 * Writes the moment since which nobody has reported on the environment of this row: its last report, its beginning, or when it
 * came out of the archive, where nobody reports to it.
 */
export function quietSince(alias: string): Sql {
  return raw(`greatest(coalesce(${alias}.last_reported_at, ${alias}.created_at), ${alias}.unarchived_at)`);
}

/**
 * Writes the moment from which on the environment of this row is silent for too long; null: never. Time in which no server
 * watched is nobody's silence.
 */
export function silentFrom(alias: string): Sql {
  return raw(
    `case when ${alias}.silent_after is not null then greatest(${alias}.silent_after, ${watchedSince(alias)}) end`,
  );
}

/**
 * Writes a condition that is true or false, never null: whether the environment of this row is silent for too long at a
 * moment in Unix seconds. The first half of it is a range of the index of those that may be silent.
 */
export function isSilent(alias: string, at: number): Sql {
  const now = sql`to_timestamp(${at}::float8)`;
  return sql`(${raw(alias)}.silent_after is not null and ${raw(alias)}.silent_after < ${now}
    and coalesce(${raw(watchedSince(alias))} < ${now}, true))`;
}

/** Since servers have watched without a break, and the silence that is not too long; null when none has ever watched. */
function watchedSince(alias: string): string {
  return `(select w.since from silence_watch w)
    + make_interval(secs => coalesce(${alias}.silence_limit, ${alias}.learned_limit))`;
}
