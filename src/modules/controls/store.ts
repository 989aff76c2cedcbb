import { type RawBuilder, sql } from "kysely";

import { jsonb, jsonbOrNull, moment } from "../../db/columns.ts";
import type { Executor, Tx } from "../../db/connect.ts";
import type { ControlStatus } from "../../domain/controls.ts";
import type { Tags } from "../../domain/tags.ts";
import type { Timestamp } from "../../lib/clock.ts";

/** A control as it is shown. */
export interface ControlRow {
  identifier: string;
  name: string;
  description: string | null;
  version: number;
  archived: boolean;
  created_by: string;
  created_at: Timestamp;
  /** Address by name. */
  links: Record<string, string>;
  tags: Tags;
}

/** The columns of a `ControlRow`, from `c`. */
export const shownControl = sql`c.identifier, c.name, c.description, c.version, c.archived,
  c.created_by_name as created_by, c.created_at, c.links, c.tags`;

/** Who changes a control, when, and what the change is called in its history. */
export interface Authorship {
  status: ControlStatus;
  at: Timestamp;
  by: string;
}

/** Appends to the history what the control in the common table expression `c` has become. */
function historyEntry({ status, at, by }: Authorship): RawBuilder<unknown> {
  return sql`insert into control_versions (org_id, control_id, version, status, name, description, links, archived,
      created_at, created_by_name)
    select c.org_id, c.id, c.version, ${status}, c.name, c.description, c.links, c.archived, ${moment(at)}, ${by}::text
    from c`;
}

export interface NewControl {
  id: string;
  identifier: string;
  name: string;
  description: string | null;
  links: Record<string, string>;
}

/**
 * Inserts a control and the first entry of its history, waiting for others who are about to take the identifier.
 * @returns undefined when a control has the identifier.
 */
export async function insertControl(
  tx: Tx,
  orgId: string,
  control: NewControl,
  authorship: Authorship,
): Promise<ControlRow | undefined> {
  const { rows } = await sql<ControlRow>`
    with c as (
      insert into controls (org_id, id, identifier, name, description, links, version, created_at, created_by_name)
      values (${orgId}, ${control.id}, ${control.identifier}, ${control.name}, ${control.description},
        ${jsonb(control.links)}, 1, ${moment(authorship.at)}, ${authorship.by})
      on conflict (org_id, identifier) do nothing
      returning *
    ), entry as (${historyEntry(authorship)})
    select ${shownControl} from c`.execute(tx);
  return rows[0];
}

/** What a control is to be; what is absent or null stays. */
export interface ControlChange {
  name?: string | null | undefined;
  description?: string | null | undefined;
  links?: Record<string, string> | null | undefined;
  archived?: boolean | undefined;
  /** Makes a version even of a control that is like that already. */
  anew?: boolean;
}

/**
 * Changes a control and appends to its history.
 * @returns undefined when there is no such control, or it is like that already and is not to be changed anew.
 */
export async function updateControl(
  tx: Tx,
  orgId: string,
  { identifier, anew = false, ...change }: ControlChange & { identifier: string },
  authorship: Authorship,
): Promise<ControlRow | undefined> {
  const next = sql`coalesce(${change.name ?? null}::text, k.name),
    coalesce(${change.description ?? null}::text, k.description),
    coalesce(${jsonbOrNull(change.links)}, k.links),
    coalesce(${change.archived ?? null}::boolean, k.archived)`;
  const { rows } = await sql<ControlRow>`
    with c as (
      update controls as k
      set (name, description, links, archived, version) = row (${next}, k.version + 1)
      where k.org_id = ${orgId} and k.identifier = ${identifier}
        and (${anew}::boolean or (k.name, k.description, k.links, k.archived) is distinct from (${next}))
      returning k.*
    ), entry as (${historyEntry(authorship)})
    select ${shownControl} from c`.execute(tx);
  return rows[0];
}

/** Those of these identifiers that controls have, archived or not. */
export async function listIdentifiers(
  db: Executor,
  orgId: string,
  identifiers: readonly string[],
): Promise<string[]> {
  if (identifiers.length === 0) return [];
  const rows = await db
    .selectFrom("controls")
    .select("identifier")
    .where("org_id", "=", orgId)
    .where("identifier", "in", identifiers)
    .execute();
  return rows.map(({ identifier }) => identifier);
}

/** The control of this identifier, archived or not. */
export async function findControl(
  db: Executor,
  orgId: string,
  identifier: string,
): Promise<ControlRow | undefined> {
  const { rows } = await sql<ControlRow>`
    select ${shownControl} from controls c where c.org_id = ${orgId} and c.identifier = ${identifier}`.execute(
    db,
  );
  return rows[0];
}
