import { raw } from "./sql.ts";

/**
 * SQL for: a text that stands for all that is visible now. Two statements that find the same text see the very same rows: whatever has
 * been committed between them would have moved the end of the snapshot, or left its list of transactions that were under way
 * (PostgreSQL documentation 9.27.8), and neither ever comes back. Null where that does not hold, so that nothing may be taken for unchanged: on a
 * standby, whose snapshots do not list what its primary has under way, and on a coordinator of Citus, whose rows are elsewhere.
 */
export const stateOfRows = raw(
  "case when pg_is_in_recovery() or current_setting('citus.shard_count', true) is not null then null else pg_current_snapshot()::text end",
);
