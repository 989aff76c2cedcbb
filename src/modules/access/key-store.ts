import type { Tx } from "../../db/connect.ts";
import { moment, momentOrNull } from "../../db/columns.ts";
import type { Timestamp } from "../../lib/clock.ts";

export interface NewApiKey {
  id: string;
  key_hash: Buffer;
  owner: { user_id: string } | { org_id: string; service_account_id: string };
  description: string;
  created_at: Timestamp;
  created_by_name: string;
  expires_at: Timestamp | null;
}

/** Inserts a key by its hash. */
export async function insertApiKey(tx: Tx, key: NewApiKey): Promise<void> {
  const { owner, created_at, expires_at, ...rest } = key;
  await tx
    .insertInto("api_keys")
    .values({ ...rest, ...owner, created_at: moment(created_at), expires_at: momentOrNull(expires_at) })
    .execute();
}
