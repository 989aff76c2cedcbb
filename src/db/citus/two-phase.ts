import type pg from "pg";

/**
 * Tables of the coordinator that are written together with rows of an organization. Left to itself Citus commits on the
 * worker first and then on the coordinator, which may end in between: a delivery would be left without its job.
 */
const tables = [
  "api_key_former_secrets",
  "api_keys",
  "former_key_ages",
  "graphile_worker._private_jobs",
  "instance_settings",
  "invitations",
  "key_notices",
  "security_rules",
  "sessions",
  "sign_in_links",
];

/** Also the name of the schema that has the function and its table. */
const trigger = "waybill_two_phases";

/**
 * Makes the table that the function writes to. Whatever Citus itself writes on the coordinator has it commit in two phases, on all
 * nodes or on none; it looks at no other tables there, but for those that were added like this one.
 */
const preparation = [
  `create schema if not exists ${trigger}`,
  `create table if not exists ${trigger}.written (id integer primary key)`,
  `select citus_add_local_table_to_metadata('${trigger}.written')
   where not exists (select from pg_dist_partition where logicalrelid = '${trigger}.written'::regclass)`,
  // There are no rows: nothing is written, and nobody waits for anybody.
  `create or replace function ${trigger}.commit() returns trigger language plpgsql as $$
   begin
     delete from ${trigger}.written where id = 0;
     return null;
   end $$`,
];

/** Lists those tables that are there and do not yet have the trigger. */
async function listUntied(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select name from unnest($1::text[]) as name
     where to_regclass(name) is not null and not exists (
       select from pg_trigger where tgrelid = to_regclass(name) and tgname = $2)`,
    [tables, trigger],
  );
  return rows.map(({ name }) => name);
}

/**
 * Has transactions that write on the coordinator and on a worker of a distributed database commit on both or on neither. What
 * was done before is not done again.
 */
export async function commitInTwoPhases(client: pg.ClientBase): Promise<void> {
  const untied = await listUntied(client);
  if (untied.length === 0) return;
  for (const statement of preparation) await client.query(statement);
  for (const table of untied)
    await client.query(
      `create trigger ${trigger} after insert or update or delete on ${table}
       for each statement execute function ${trigger}.commit()`,
    );
}
