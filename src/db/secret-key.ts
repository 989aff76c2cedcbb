import type { Executor } from "./executor.ts";
import { deleteSetting, findSetting, proposeSetting, putSetting } from "./instance-settings.ts";

const setting = "secret_key_fingerprint";

/** Thrown when the database holds secrets that were sealed with another key than ours. */
export class ForeignSecretsError extends Error {}

/** Reads the fingerprint of the key that secrets are sealed with; undefined before the first start. */
export function findSecretKey(db: Executor): Promise<string | undefined> {
  return findSetting(db, setting);
}

/** Notes which key secrets are sealed with from now on; whoever has the first one, if that is not known yet. */
export async function replaceSecretKey(db: Executor, fingerprint: string | undefined): Promise<void> {
  if (fingerprint === undefined) await deleteSetting(db, setting);
  else await putSetting(db, setting, fingerprint);
}

/**
 * Makes sure that all who use a database seal secrets with one key: the first notes its fingerprint, and whoever has
 * another key is refused, instead of failing later on every secret the others wrote.
 * @throws ForeignSecretsError
 */
export async function checkSecretKey(db: Executor, fingerprint: string): Promise<void> {
  await proposeSetting(db, setting, fingerprint);
  if ((await findSecretKey(db)) !== fingerprint)
    throw new ForeignSecretsError(
      "Secrets in this database were sealed with another key: set WAYBILL_SECRET_KEY, or the file secret-key in the data directory, to the one the other servers use.",
    );
}
