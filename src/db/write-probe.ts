import type pg from "pg";

/** How many rows are sorted: a little more than a mebibyte, of which the memory given to the sort holds a fraction. */
const rows = 16_384;

/**
 * What a write needs, tried one after the other: permission, the log, and room where tables are. The sort does not fit
 * into its memory, so it asks for new blocks on the disk of the database. No table is made or emptied for it: a file that
 * a transaction made and a crash left behind can keep PostgreSQL from starting.
 */
const trials = [
  "select from migrations order by name limit 1 for key share",
  "select pg_logical_emit_message(true, 'waybill', repeat('x', 8192))",
  `select count(*) from (select from generate_series(1, ${rows}) as i order by md5(i::text)) as sorted`,
];

/**
 * Tries whether the database can be written, and leaves nothing of it. While another server tries, it is not tried again.
 * @throws what a write fails with: no room, read-only, away.
 */
export async function probeWrite(pool: pg.Pool): Promise<void> {
  const client = await pool.connect();
  let broken: unknown;
  try {
    await client.query("begin");
    await client.query(
      "set local statement_timeout = 5000; set local work_mem = '64kB'; set local temp_tablespaces = ''",
    );
    const { rows: found } = await client.query<{ alone: boolean }>(
      "select pg_try_advisory_xact_lock(hashtext('waybill write probe')) as alone",
    );
    if (found[0]?.alone === true) for (const trial of trials) await client.query(trial);
  } catch (error) {
    broken = error;
    throw error;
  } finally {
    await client.query("rollback").catch((error: unknown) => {
      broken = error;
    });
    client.release(broken instanceof Error && (broken as { code?: string }).code === undefined);
  }
}
