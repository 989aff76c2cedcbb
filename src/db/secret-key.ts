import type pg from "pg";

const setting = "secret_key_fingerprint";

/** The database holds secrets that were sealed with another key than ours. */
export class ForeignSecretsError extends Error {}

/**
 * Makes sure that all who use a database seal secrets with one key: the first notes its fingerprint, and whoever has
 * another key is refused, instead of failing later on every secret the others wrote.
 * @throws ForeignSecretsError
 */
export async function checkSecretKey(pool: pg.Pool, fingerprint: string): Promise<void> {
  await pool.query("insert into instance_settings (name, value) values ($1, $2) on conflict do nothing", [
    setting,
    fingerprint,
  ]);
  const { rows } = await pool.query<{ value: string }>(
    "select value from instance_settings where name = $1",
    [setting],
  );
  if (rows[0]?.value !== fingerprint)
    throw new ForeignSecretsError(
      "Secrets in this database were sealed with another key: set WAYBILL_SECRET_KEY, or the file secret-key in the data directory, to the one the other servers use.",
    );
}
