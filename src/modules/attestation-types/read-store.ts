import { type RawBuilder, sql } from "kysely";

import type { Executor } from "../../db/connect.ts";

/** The evaluator of a version without rules. */
const withoutRules = JSON.stringify({ content_type: "default" });

/** Types as they are shown, as JSON text built by the database: `t` with its versions `v`, newest first. */
function shownTypes(
  org: { id: string; name: string },
  parts: { facts: RawBuilder<unknown>; which: RawBuilder<unknown> },
): RawBuilder<{ text: string }> {
  return sql<{ text: string }>`
    select (
      jsonb_build_object('name', t.name, 'org', ${org.name}::text, 'archived', t.archived_at is not null)
      || ${parts.facts}
      || case when (v.descriptions)[1] is null then '{}'
           else jsonb_build_object('description', (v.descriptions)[1]) end
      || jsonb_build_object('versions', v.versions)
    )::text as text
    from attestation_types as t
    cross join lateral (
      select array_agg(v.description order by v.version desc) as descriptions,
        jsonb_agg(jsonb_build_object(
          'version', v.version, 'timestamp', epoch(v.created_at), 'created_by', v.created_by_name,
          'type_schema', v.type_schema, 'evaluator', coalesce(v.evaluator, ${withoutRules}::jsonb), 'summary', v.summary
        ) order by v.version desc) as versions
      from attestation_type_versions as v
      where v.org_id = t.org_id and v.type_id = t.id and ${parts.which}
    ) as v
    where t.org_id = ${org.id} and v.versions is not null`;
}

const wholeType = {
  facts: sql`jsonb_build_object('created_by', t.created_by_name, 'created_at', epoch(t.created_at),
    'last_modified_at', epoch(t.last_modified_at))`,
  which: sql`true`,
};

/** The types of an organization that are not archived, with all their versions, newest first: a JSON array as text. */
export async function listTypes(db: Executor, org: { id: string; name: string }): Promise<string> {
  const { rows } = await sql<{ text: string }>`${shownTypes(org, wholeType)} and t.archived_at is null
    order by t.created_at desc, t.id desc`.execute(db);
  return `[${rows.map((row) => row.text).join(",")}]`;
}

/** A type with all its versions: a JSON object as text. */
export async function findType(
  db: Executor,
  org: { id: string; name: string },
  name: string,
): Promise<string | undefined> {
  const { rows } = await sql<{ text: string }>`${shownTypes(org, wholeType)} and t.name = ${name}`.execute(
    db,
  );
  return rows[0]?.text;
}

/** A type with one of its versions, without what concerns all of them: a JSON object as text. */
export async function findTypeAtVersion(
  db: Executor,
  org: { id: string; name: string },
  name: string,
  version: number,
): Promise<string | undefined> {
  const parts = { facts: sql`'{}'::jsonb`, which: sql`v.version = ${version}::bigint` };
  const { rows } = await sql<{ text: string }>`${shownTypes(org, parts)} and t.name = ${name}`.execute(db);
  return rows[0]?.text;
}
