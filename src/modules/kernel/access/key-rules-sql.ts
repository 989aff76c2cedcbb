import { raw, type Sql, sql } from "../../../db/sql.ts";
import { graceDays, installation } from "../../../domain/key-rules.ts";
import { roles } from "../../../domain/roles.ts";

/** SQL for: the organization that stands for the installation. */
export const installationId = raw(`'${installation}'::uuid`);

const grace = raw(`interval '${graceDays} days'`);
const day = raw("interval '1 day'");

/**
 * Writes SQL for: when these rules end this key, null for not at all. A secret is as old as its last rotation. Keys that break a rule
 * which became stricter after they were made have some days from then, but for those that the rule had ended before: they end when they did.
 * @param key the alias of a row of `api_keys`, `rules` that of a row of `security_rules`.
 */
export function endByRules(key: string, rules: string): Sql {
  const [k, r] = [raw(key), raw(rules)];
  const made = sql`coalesce(${k}.rotated_at, ${k}.created_at)`;
  const ofKind = (personal: Sql, service: Sql) =>
    sql`case when ${k}.user_id is null then ${service} else ${personal} end`;
  const age = ofKind(sql`${r}.max_personal_key_age_days`, sql`${r}.max_service_key_age_days`);
  const tightened = ofKind(
    sql`coalesce(${r}.personal_tightened_at, ${r}.tightened_at)`,
    sql`coalesce(${r}.service_tightened_at, ${r}.tightened_at)`,
  );
  const ended = sql`(select min(was.ends_at) from (
    select greatest(${made} + f.max_days * ${day}, case when ${made} < f.tightened_at then f.tightened_at + ${grace} end) as ends_at,
      f.replaced_at
    from former_key_ages f where f.org_id = ${r}.org_id and f.kind = ${ofKind(sql`'personal'`, sql`'service'`)}) was
    where was.ends_at <= was.replaced_at)`;
  return sql`least(
    case when ${age} is null then null
      when ${made} < ${tightened} then least(${ended}, greatest(${made} + ${age} * ${day}, ${tightened} + ${grace}))
      else ${made} + ${age} * ${day} end,
    case when ${r}.require_expiry and ${k}.expires_at is null
      then coalesce(${r}.expiry_tightened_at, ${r}.tightened_at) + ${grace} end)`;
}

/**
 * Writes SQL for: when rules end this key wherever it is used; null for not at all. These are the rules of the installation, and for the
 * key of a service account those of its organization.
 */
export function deadlineOf(key: string): Sql {
  return sql`(select min(${endByRules(key, "rule")}) from security_rules rule
    where rule.org_id in (${installationId}, ${raw(key)}.org_id))`;
}

/** Writes SQL for: the end of this key by itself or by rules, null for never. */
export function endOfKey(key: string): Sql {
  return sql`least(${raw(key)}.expires_at, ${deadlineOf(key)})`;
}

const order = raw(`array[${roles.map((role) => `'${role}'`).join(", ")}]`);

/** Writes SQL for: the weaker one of a role and the most that something may have, which is null where that is no less. */
export function weakerOf(role: Sql, most: Sql): Sql {
  return sql`case when array_position(${order}, ${most}) < array_position(${order}, ${role}) then ${most} else ${role} end`;
}
