import type { Executor } from "../../../../db/connect.ts";
import { integer, type RowOf, text, uuid } from "../../../../db/row.ts";
import { query } from "../../../../db/sql.ts";

/** The latest version of an attached policy. */
const applied = {
  environment_id: uuid,
  /** Of the version. */
  id: uuid,
  name: text,
  version: integer,
};
type AppliedRow = RowOf<typeof applied>;

/** Lists the latest versions of what is attached to environments, in the order of attachment. */
export function listApplied(
  db: Executor,
  orgId: string,
  environmentIds: readonly string[],
): Promise<AppliedRow[]> {
  return db.all(query("applied-policies", applied)`
    select a.environment_id, v.id, p.name, v.version
    from environment_policies a
    join policies p on p.org_id = a.org_id and p.id = a.policy_id
    join policy_versions v on v.org_id = p.org_id and v.policy_id = p.id and v.version = p.version
    where a.org_id = ${orgId} and a.environment_id = any(${environmentIds}::uuid[])
    order by a.id`);
}

/** Lists the texts of these versions. */
export function listVersionTexts(
  db: Executor,
  orgId: string,
  ids: readonly string[],
): Promise<{ id: string; text: string }[]> {
  return db.all(query({ id: uuid, text })`
    select v.id, v.text from policy_versions v
    where v.org_id = ${orgId} and v.id = any(${ids}::uuid[])`);
}
