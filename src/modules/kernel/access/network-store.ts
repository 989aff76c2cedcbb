import type { Executor } from "../../../db/connect.ts";
import { raw, sql } from "../../../db/sql.ts";
import type { Timestamp } from "../../../lib/clock.ts";

/** A key was used from a network. */
export interface NetworkUse {
  key_id: string;
  /** In CIDR notation. */
  network: string;
  at: Timestamp;
}

/** So many networks are remembered of a key: one that comes from everywhere says nothing by coming from elsewhere. */
const mostNetworks = raw("50");

/** Remembers from which networks keys were used. Those that are known already stay as they are. */
export async function insertNetworkUses(db: Executor, uses: readonly NetworkUse[]): Promise<void> {
  await db.run(sql`
    insert into key_networks (key_id, network, first_used_at)
    select used.key_id, used.network, to_timestamp(used.at)
    from unnest(${uses.map(({ key_id }) => key_id)}::uuid[], ${uses.map(({ network }) => network)}::cidr[],
      ${uses.map(({ at }) => at)}::float8[]) as used (key_id, network, at)
    where (select count(*) from key_networks known where known.key_id = used.key_id) < ${mostNetworks}
    on conflict do nothing`);
}
