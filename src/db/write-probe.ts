import type pg from "pg";

/** A row fills a page of 8 KiB, so that this much room is taken. */
const rows = 128;
const rowLength = 7_000;

/**
 * Tries whether the database takes a mebibyte of new data, and leaves nothing of it. Emptying a table within a transaction
 * gives it a new file, so room is asked for anew each time. While another server tries, it is not tried again.
 * @throws what a write fails with: no room, read-only, away.
 */
export async function probeWrite(pool: pg.Pool): Promise<void> {
  const client = await pool.connect();
  let broken: unknown;
  try {
    await client.query("begin");
    await client.query("set local statement_timeout = 5000");
    const { rows: found } = await client.query<{ alone: boolean }>(
      "select pg_try_advisory_xact_lock(hashtext('waybill write probe')) as alone",
    );
    if (found[0]?.alone === true) {
      await client.query("truncate write_probe");
      await client.query(
        "insert into write_probe (filler) select repeat('x', $1) from generate_series(1, $2::integer)",
        [rowLength, rows],
      );
    }
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
