import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import {
  type EnvironmentSort,
  environmentSorts,
  type EnvironmentState,
  environmentStates,
  environmentTypes,
  sortDirections,
} from "../../src/domain/environments.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { listedNames } from "../support/environments.ts";
import { amount } from "../support/thorough.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

interface Row {
  id: string;
  name: string;
  type: (typeof environmentTypes)[number];
  modified: number;
  changed: number | null;
  reported: number | null;
  /** Seconds of silence that are too many. */
  limit: number | null;
  state: boolean | null;
  /** Numbers of the policies that are attached. */
  policies: number[];
  tags: Record<string, string>;
  space: number | null;
  archived: boolean;
}

interface Query {
  sort: EnvironmentSort | undefined;
  direction: "asc" | "desc" | undefined;
  types: readonly Row["type"][];
  name: string | undefined;
  tags: readonly string[];
  spaces: readonly number[];
  archived: boolean | undefined;
  stale: boolean | undefined;
  states: readonly EnvironmentState[];
  policies: readonly number[];
  per_page: number;
}

/** Spaces 0..5; the parent of each. */
const spaceParents = [null, 0, 1, 0, null, 4] as const;
const policyId = (number: number): string => `00000000-0000-7000-8000-00000000010${number}`;
const spaceId = (index: number): string => `00000000-0000-7000-8000-0000000${index}`;

const rowArbitrary: fc.Arbitrary<Omit<Row, "id">> = fc.record({
  name: fc.stringMatching(/^[abAB][ab1_.-]{0,6}$/),
  // One type has more than a page of environments.
  type: fc.oneof(
    { weight: 2, arbitrary: fc.constant("K8S" as const) },
    { weight: 1, arbitrary: fc.constantFrom(...environmentTypes) },
  ),
  modified: fc.integer({ min: 1, max: 6 }),
  changed: fc.option(fc.integer({ min: 1, max: 4 })),
  reported: fc.option(fc.integer({ min: 1, max: 4 })),
  limit: fc.option(fc.constantFrom(60, 2_100_000_000)),
  state: fc.constantFrom(true, false, null),
  policies: fc.subarray([0, 1]),
  tags: fc.dictionary(fc.constantFrom("team", "tier", "x"), fc.constantFrom("a", "b", "a:b", "")),
  space: fc.option(fc.nat(5)),
  archived: fc.boolean(),
});

const queryArbitrary: fc.Arbitrary<Query> = fc.record({
  sort: fc.option(fc.constantFrom(...environmentSorts), { nil: undefined }),
  direction: fc.option(fc.constantFrom(...sortDirections), { nil: undefined }),
  types: fc.oneof(fc.constant([]), fc.array(fc.constantFrom(...environmentTypes), { maxLength: 4 })),
  name: fc.option(fc.stringMatching(/^[abAB1_.%\\-]{0,4}$/), { nil: undefined }),
  tags: fc.oneof(
    fc.constant([]),
    fc.array(fc.constantFrom("team", "tier:a", "x:a:b", "x:", "", "tier", "none"), { maxLength: 3 }),
  ),
  spaces: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, fc.array(fc.nat(6), { maxLength: 2 })),
  archived: fc.option(fc.boolean(), { nil: undefined }),
  stale: fc.option(fc.boolean(), { freq: 2, nil: undefined }),
  states: fc.oneof(fc.constant([]), fc.subarray([...environmentStates], { minLength: 1 })),
  // The last one is no policy at all.
  policies: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, fc.subarray([0, 1, 2], { minLength: 1 })),
  per_page: fc.constantFrom(7, 13, 20, 49, 50),
});

function isWithin(space: number | null, wanted: number): boolean {
  for (let at = space; at !== null; at = spaceParents[at] ?? null) if (at === wanted) return true;
  return false;
}

function matchesTag(tags: Record<string, string>, wanted: string): boolean {
  return Object.entries(tags).some(([key, value]) => wanted === key || wanted === `${key}:${value}`);
}

function isStale({ type, archived, limit }: Row): boolean {
  return type !== "logical" && !archived && limit === 60;
}

const isIn: Record<EnvironmentState, (row: Row) => boolean> = {
  COMPLIANT: ({ state }) => state === true,
  "NON-COMPLIANT": ({ state }) => state === false,
  UNKNOWN: ({ state }) => state === null,
  "NEVER-REPORTED": ({ type, reported }) => type !== "logical" && reported === null,
};

function matches(row: Row, query: Query): boolean {
  const { types, name, tags, spaces, stale, states, policies } = query;
  return (
    row.archived === (query.archived ?? false) &&
    (types.length === 0 || types.includes(row.type)) &&
    row.name.toLowerCase().includes((name ?? "").toLowerCase()) &&
    (tags.length === 0 || tags.some((tag) => matchesTag(row.tags, tag))) &&
    (spaces.length === 0 || spaces.some((space) => isWithin(row.space, space))) &&
    (stale === undefined || isStale(row) === stale) &&
    (states.length === 0 || states.some((state) => isIn[state](row))) &&
    (policies.length === 0 || policies.some((policy) => row.policies.includes(policy)))
  );
}

const compare = (a: string | number, b: string | number): number => (a < b ? -1 : a > b ? 1 : 0);

function comparator({ sort = "name", direction = "asc" }: Query): (a: Row, b: Row) => number {
  const sign = direction === "asc" ? 1 : -1;
  if (sort === "name") return (a, b) => sign * compare(a.name, b.name);
  const keys: Record<typeof sort, (row: Row) => number | null> = {
    last_modified_at: ({ modified }) => modified,
    last_changed_at: ({ changed }) => changed,
    last_reported_at: ({ reported }) => reported,
    state: ({ state }) => (state === null ? null : Number(state)),
  };
  const key = keys[sort];
  return (a, b) => {
    const [left, right] = [key(a), key(b)];
    if (left === null || right === null) {
      if (left !== right) return left === null ? 1 : -1;
      return compare(a.name, b.name);
    }
    return sign * compare(left, right) || compare(a.name, b.name);
  };
}

function queryString(query: Query): string {
  const parameters = new URLSearchParams();
  if (query.sort !== undefined) parameters.set("sort", query.sort);
  if (query.direction !== undefined) parameters.set("sort_direction", query.direction);
  if (query.name !== undefined) parameters.set("name", query.name);
  if (query.archived !== undefined) parameters.set("archived", String(query.archived));
  if (query.stale !== undefined) parameters.set("stale", String(query.stale));
  for (const state of query.states) parameters.append("state", state);
  for (const policy of query.policies) parameters.append("policy", `p${policy}`);
  for (const type of query.types) parameters.append("type", type);
  for (const tag of query.tags) parameters.append("tag", tag);
  for (const space of query.spaces) parameters.append("space_id", spaceId(space));
  return parameters.toString();
}

async function seed(org: TestOrg, rows: Row[]): Promise<void> {
  const { pool } = app.deps.db;
  for (const [index, parent] of spaceParents.entries())
    await pool.query(
      "insert into spaces (org_id, id, parent_id, name, created_at, last_modified_at) values ($1, $2, $3, $4, now(), now())",
      [org.id, `${spaceId(index)}0000`, parent === null ? null : `${spaceId(parent)}0000`, `s${index}`],
    );
  for (const number of [0, 1])
    await pool.query(
      `insert into policies (org_id, id, name, description, version, text_digest, text_bytes, created_at, created_by_name,
         last_modified_at) values ($1, $2, $3, '', 1, '', 0, now(), '', now())`,
      [org.id, policyId(number), `p${number}`],
    );
  await pool.query(
    `insert into environments (org_id, id, name, type, tags, space_id, created_at, last_modified_at, last_changed_at,
       last_reported_at, silence_limit, learned_limit, state, archived_at, original_name)
     select $1, r.id, r.name, r.type, r.tags, r.space::uuid, to_timestamp(1), to_timestamp(r.modified), to_timestamp(r.changed),
       to_timestamp(r.reported), case when r.reported is null or r.changed is null then r."limit" end,
       case when r.reported is not null and r.changed is not null then r."limit" end, r.state, case when r.archived then now() end, case when r.archived then r.name end
     from jsonb_to_recordset($2::jsonb) as r (id uuid, name text, type text, tags jsonb, space text, modified float8,
       changed float8, reported float8, "limit" float8, state boolean, archived boolean)`,
    [
      org.id,
      JSON.stringify(
        rows.map((row) => ({ ...row, space: row.space === null ? null : `${spaceId(row.space)}0000` })),
      ),
    ],
  );
}

async function attach(org: TestOrg, rows: Row[]): Promise<void> {
  const attached = rows.flatMap(({ id, policies }) =>
    policies.map((policy) => ({ environment_id: id, policy_id: policyId(policy), id: app.deps.ids.next() })),
  );
  await app.deps.db.pool.query(
    `insert into environment_policies (org_id, environment_id, policy_id, id)
     select $1, r.environment_id, r.policy_id, r.id
     from jsonb_to_recordset($2::jsonb) as r (environment_id uuid, policy_id uuid, id uuid)`,
    [org.id, JSON.stringify(attached)],
  );
}

/** The deepest pages of the most frequent type: more than one page of it alone. */
const frequent: Query[] = environmentSorts.flatMap((sort) =>
  sortDirections.map((direction) => ({
    sort,
    direction,
    types: ["K8S", "logical"],
    name: undefined,
    tags: [],
    spaces: [],
    archived: false,
    stale: undefined,
    states: [],
    policies: [],
    per_page: 20,
  })),
);

describe("any list", () => {
  it("is what a plain filter, sort and slice of the same environments gives", async () => {
    const generated = fc.sample(
      fc.uniqueArray(rowArbitrary, { minLength: 200, maxLength: 200, selector: (row) => row.name }),
      1,
    )[0]!;
    const rows = generated.map((row) => ({ ...row, id: app.deps.ids.next() }));
    const org = await app.org();
    await seed(org, rows);
    await attach(org, rows);
    await fc.assert(
      fc.asyncProperty(queryArbitrary, async (query) => {
        const expected = rows
          .filter((row) => matches(row, query))
          .sort(comparator(query))
          .map(({ name }) => name);
        const base = queryString(query);
        expect(await listedNames(org.reader, org, `?${base}`)).toEqual(expected);
        const paged: string[] = [];
        const pages = Math.ceil(expected.length / query.per_page);
        for (let page = 1; page <= pages + 1; page += 1) {
          const { json } = await org.reader.get(
            `/environments/${org.name}?${base}&page=${page}&per_page=${query.per_page}`,
          );
          expect([json.total_count, json.total_pages, json.page]).toEqual([expected.length, pages, page]);
          paged.push(...json.environments.map(({ name }: { name: string }) => name));
        }
        expect(paged).toEqual(expected);
      }),
      { numRuns: amount(40, 120), examples: frequent.map((query) => [query]) },
    );
  }, 120_000);
});
