import type { Executor } from "../../../db/connect.ts";
import { nullable, oneOf, type RowOf, text, texts, uuid } from "../../../db/row.ts";
import { constant, param, query, type Sql, sql } from "../../../db/sql.ts";
import {
  matchQualities,
  type NameMatch,
  type SearchedTexts,
  type SearchKind,
  searchKinds,
} from "../../../domain/search-names.ts";
import { distinctValues } from "./store.ts";

/** Matches of each kind and quality at most, which tells the planner that it is few whatever the texts are. */
const mostOfEach = constant(50);

/** Kinds of which there are few enough to look for a part of their names, and how many names are looked through. */
const fewKinds: ReadonlySet<SearchKind> = new Set(["flow", "repo", "policy", "control", "attestation_type"]);
const mostLookedThrough = constant(5000);

const nameMatch = {
  kind: oneOf(searchKinds),
  ref: nullable(uuid),
  name: text,
  quality: oneOf(matchQualities),
};

/** The texts that begin with one: nothing sorts behind the last character there is. */
function beginsWith(column: Sql, start: Sql): Sql {
  return sql`${column} >= ${start} and ${column} < ${start} || U&'\\+10FFFF'`;
}

/** Selects words of the kind `asked.kind` that begin with `asked.text`, of whole names or of later words. */
function words(orgId: string, isLater: boolean): Sql {
  const quality = isLater ? sql`'word'` : sql`case when w.text = asked.text then 'exact' else 'prefix' end`;
  return sql`(select w.ref, w.name, ${quality} as quality, w.text from search_words w
    where w.org_id = ${orgId}::uuid and w.kind = asked.kind and w.later = ${constant(isLater)}
      and ${beginsWith(sql`w.text`, sql`asked.text`)}
    order by w.text, w.ref desc limit ${mostOfEach})`;
}

/**
 * Finds what is called so, in the order of names: at most 50 of each kind and quality. Of 100,000 environments and 1,000,000
 * trails it reads a page of an index for each kind; parts of names are looked for among 5,000 of a kind.
 */
export function findNames(
  db: Executor,
  orgId: string,
  { name, base }: SearchedTexts,
  kinds: readonly SearchKind[],
): Promise<NameMatch[]> {
  const [wanted, few] = [param(kinds), param(kinds.filter((kind) => fewKinds.has(kind)))];
  const lower = sql`lower(${param(name)}::text collate "C")`;
  return db.all(query("search-names", nameMatch)`
    with asked (kind, text) as materialized (
      select kind collate "C", case kind when 'artifact' then lower(${base}::text collate "C") else ${lower} end
      from unnest(${wanted}::text[]) as kind)
    select kind, ref, name, quality from (
      select asked.kind, w.* from asked cross join lateral (
        ${words(orgId, false)} union all ${words(orgId, true)}) w
      union all
      select asked.kind, t.* from asked cross join lateral (
        select t.id, t.name, case when lower(t.name) = asked.text then 'exact' else 'prefix' end, lower(t.name)
        from trails t where t.org_id = ${orgId}::uuid and ${beginsWith(sql`lower(t.name)`, sql`asked.text`)}
        order by lower(t.name), t.id desc limit ${mostOfEach}) t
      where asked.kind = 'trail'
      union all
      select few.kind, w.ref, w.name, 'contains', w.text from unnest(${few}::text[]) as few (kind) cross join lateral (
        select * from (
          select w.ref, w.name, w.text from search_words w
          where w.org_id = ${orgId}::uuid and w.kind = few.kind and not w.later
          order by w.text, w.ref desc limit ${mostLookedThrough}) w
        where strpos(w.text, ${lower}) > 1 limit ${mostOfEach}) w
    ) found
    order by text, ref desc, name`);
}

const digests = {
  /** Fingerprints of artifacts that were reported. */
  built: texts,
  /** Fingerprints of artifacts that ran. */
  ran: texts,
  commits: texts,
  /** Commits that attestations were made for. */
  attested: texts,
};

/** Finds the fingerprints and commits that begin with these lower-case digits, at most `limit` of each, in order. */
export function findDigests(
  db: Executor,
  orgId: string,
  digits: string,
  limit: number,
): Promise<RowOf<typeof digests>> {
  // Every digit comes before the letter g.
  const range = { org: param(orgId), from: param(digits), to: param(`${digits}g`), most: param(limit) };
  return db.one(query("search-digests", digests)`select
    array(${distinctValues("fingerprint", "artifacts", range)}) as built,
    array(${distinctValues("fingerprint", "snapshot_artifacts", range)}) as ran,
    array(${distinctValues("git_commit", "artifacts", range)}) as commits,
    array(${distinctValues("git_commit", "attestations", range)}) as attested`);
}
