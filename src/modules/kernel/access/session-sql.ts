import { moment, raw, type Sql, sql } from "../../../db/sql.ts";
import { sessionSeconds } from "../../../domain/sessions.ts";
import type { Timestamp } from "../../../lib/clock.ts";
import { endOfKey, installationId } from "./key-rules-sql.ts";

const idle = raw(`interval '${sessionSeconds.idle} seconds'`);
const total = raw(`interval '${sessionSeconds.total} seconds'`);

/** Writes SQL for: the session of this alias has not ended by itself at this moment. Says nothing about its key and its owner. */
export function lastsAt(session: string, at: Sql): Sql {
  const s = raw(session);
  return sql`${s}.last_used_at > ${at} - ${idle} and ${s}.created_at > ${at} - ${total}
    and (${s}.ends_at is null or ${s}.ends_at > ${at})`;
}

/**
 * Writes SQL for: the installation takes sessions that were begun as this one was. Where people come by the sign-in provider, theirs are
 * not begun with keys.
 */
export function isTaken(session: string): Sql {
  const s = raw(session);
  return sql`(${s}.api_key_id is null or ${s}.user_id is null or not exists (
    select from security_rules rule where rule.org_id = ${installationId} and rule.sso_only))`;
}

/** Writes SQL for: has not ended by itself, nor has its key. */
export function sessionWorksAt(session: string, at: Timestamp): Sql {
  const s = raw(session);
  return sql`${lastsAt(session, moment(at))} and ${isTaken(session)} and (${s}.api_key_id is null or exists (
    select from api_keys k where k.id = ${s}.api_key_id and k.revoked_at is null
      and coalesce(${endOfKey("k")} > ${moment(at)}, true)))`;
}

/** Writes SQL for: when this session ends however much it is used. */
export function endOf(session: string): Sql {
  const s = raw(session);
  return sql`least(${s}.ends_at, ${s}.created_at + ${total})`;
}

/** Writes SQL for: when this session ends if it is not used again. */
export function idleEndOf(session: string): Sql {
  const s = raw(session);
  return sql`least(${endOf(session)}, ${s}.last_used_at + ${idle})`;
}
