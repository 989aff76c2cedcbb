import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { createControl } from "../support/controls.ts";
import { createEnvironment } from "../support/environments.ts";
import { putFlow, putTrail } from "../support/flows.ts";
import { expectKept } from "../support/kept.ts";
import { amount } from "../support/thorough.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const long = "x".repeat(300);
const targets = ["environment/a", "environment/b", "environment/c", "flow/f", "control/c1"];
const tags = fc.dictionary(fc.constantFrom("team", "tier"), fc.constantFrom("a", "b", "", long));
const patch = fc.record({
  target: fc.constantFrom(...targets),
  set_tags: tags,
  remove_tags: fc.subarray(["team", "tier"]),
});

async function company(): Promise<TestOrg> {
  const org = await app.org();
  for (const name of ["a", "b", "c"]) await createEnvironment(org, name, { type: "server" });
  for (const name of ["f", "g"]) await putFlow(org.member, org.name, { name });
  await createControl(org, "c1");
  return org;
}

describe("numbers that are kept", () => {
  it("are what counting gives, whoever tags what at once", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(patch, { maxLength: 6 }), { maxLength: 4 }), async (rounds) => {
        const org = await company();
        for (const round of rounds) {
          const answers = await Promise.all(
            round.map(({ target, ...body }) => org.member.patch(`/tags/${org.name}/${target}`, body)),
          );
          expect(answers.map(({ status }) => status)).toEqual(round.map(() => 200));
        }
        await expectKept(app, org);
        await org.member.put(`/environments/${org.name}/a/archive`);
        await org.member.put(`/flows/${org.name}/f/archive`);
        await expectKept(app, org);
      }),
      { numRuns: amount(5, 12) },
    );
  }, 120_000);

  it("offer no tag that nothing has any more", async () => {
    const org = await company();
    const choices = async () => (await org.reader.get(`/tags/${org.name}/environment`)).json;
    await org.member.patch(`/tags/${org.name}/environment/a`, { set_tags: { team: "a", tier: long } });
    await org.member.patch(`/tags/${org.name}/environment/b`, { set_tags: { team: "b" } });
    expect(await choices()).toEqual({
      tags: [
        { key: "team", values: ["a", "b"], truncated: false },
        { key: "tier", values: [], truncated: true },
      ],
      truncated: false,
    });
    // As two writers leave it, neither of whom has seen what the other did.
    await app.deps.db.pool.query(
      `insert into tag_tallies (org_id, kind, key, is_long, value, uses)
       values ($1, 'environment', 'team', false, 'gone', 1), ($1, 'environment', 'team', false, 'gone', -1),
         ($1, 'environment', 'lost', false, '', 1), ($1, 'environment', 'lost', false, '', -1)`,
      [org.id],
    );
    await org.member.patch(`/tags/${org.name}/environment/a`, { set_tags: {}, remove_tags: ["tier"] });
    expect((await choices()).tags).toEqual([{ key: "team", values: ["a", "b"], truncated: false }]);
    await org.member.patch(`/tags/${org.name}/environment/c`, { set_tags: { team: "gone" } });
    const { rows } = await app.deps.db.pool.query(
      "select uses from tag_tallies where org_id = $1 and value = 'gone'",
      [org.id],
    );
    expect(rows).toEqual([{ uses: 1 }]);
  });

  it("count the trails that reports begin at once, and those of archived flows only where they are asked for", async () => {
    const org = await company();
    const begin = (flow: string, name: string) => putTrail(org.member, `${org.name}/${flow}`, { name });
    await Promise.all(Array.from({ length: 24 }, (_, at) => begin(at % 3 === 0 ? "g" : "f", `t${at % 20}`)));
    await expectKept(app, org);
    const total = async (query = "") =>
      (await org.reader.get(`/trails/${org.name}?per_page=1${query}`)).json.pagination.total;
    const inFlow = (await org.reader.get(`/trails/${org.name}/f?per_page=1`)).json.pagination.total;
    const all = await total();
    expect(inFlow).toBeGreaterThan(10);
    expect(await total("&flow=f")).toBe(inFlow);
    expect(await total("&flow=nothing")).toBe(0);
    await org.member.patch(`/tags/${org.name}/flow/g`, { set_tags: { team: "a" } });
    expect(await total("&flow_tag=team")).toBe(all - inFlow);
    await org.member.put(`/flows/${org.name}/f/archive`);
    expect(await total()).toBe(all - inFlow);
  });
});

describe("a list of many environments by what they have", () => {
  const many = 2600;
  // Every second one has the policy and the tag; nearly all have the key.
  const names = Array.from(
    { length: many },
    (_, at) => `e-${String((at * 7919) % many).padStart(4, "0")}`,
  ).sort();

  async function crowd(): Promise<TestOrg> {
    const org = await app.org();
    const { pool } = app.deps.db;
    const { rows } = await pool.query<{ id: string }>(
      `insert into policies (org_id, id, name, description, version, text_digest, text_bytes, created_at, created_by_name,
         last_modified_at) values ($1, gen_random_uuid(), 'strict', '', 1, '', 0, now(), '', now()) returning id`,
      [org.id],
    );
    await pool.query(
      `insert into environments (org_id, id, name, type, tags, created_at, last_modified_at, state)
       select $1, gen_random_uuid(), name, case when at % 3 = 0 then 'K8S' else 'server' end,
         case when at % 50 = 0 then '{}' else jsonb_build_object('team', case when at % 2 = 0 then 'a' else 'b' end) end,
         to_timestamp(1), to_timestamp(1000 - at % 7), at % 5 = 0
       from unnest($2::text[]) with ordinality as named (name, at)`,
      [org.id, names],
    );
    await pool.query(
      `insert into environment_policies (org_id, environment_id, policy_id, id)
       select $1, id, $2, gen_random_uuid() from environments where org_id = $1 and substr(name, 3)::integer % 10 <> 3`,
      [org.id, rows[0]!.id],
    );
    return org;
  }

  it("is the same list, whether they are looked up or passed over", async () => {
    const org = await crowd();
    const rows = names.map((name, index) => ({
      name,
      at: index + 1,
      isStrict: Number(name.slice(2)) % 10 !== 3,
    }));
    const cases: [string, (row: (typeof rows)[number]) => boolean][] = [
      ["tag=team", ({ at }) => at % 50 !== 0],
      ["tag=team:b", ({ at }) => at % 50 !== 0 && at % 2 === 1],
      ["tag=team:a&tag=team:b", ({ at }) => at % 50 !== 0],
      ["policy=strict", ({ isStrict }) => isStrict],
      ["policy=strict&tag=team", ({ at, isStrict }) => isStrict && at % 50 !== 0],
      ["policy=strict&type=K8S", ({ at, isStrict }) => isStrict && at % 3 === 0],
      ["tag=team&type=K8S&type=server&state=COMPLIANT", ({ at }) => at % 50 !== 0 && at % 5 === 0],
    ];
    for (const [query, isWanted] of cases)
      for (const order of ["sort=name", "sort=name&sort_direction=desc", "sort=last_modified_at"]) {
        const wanted = rows.filter(isWanted);
        if (order !== "sort=name") wanted.reverse();
        if (order === "sort=last_modified_at")
          wanted.sort((a, b) => (b.at % 7) - (a.at % 7) || (a.name < b.name ? -1 : 1));
        for (const page of [1, 2, 20, Math.ceil(wanted.length / 50), 60]) {
          const { json } = await org.reader.get(
            `/environments/${org.name}?per_page=50&${query}&${order}&page=${page}`,
          );
          const shown = json.environments.map(({ name }: { name: string }) => name);
          const expected = wanted.slice((page - 1) * 50, page * 50).map(({ name }) => name);
          expect([query, order, page, json.total_count, shown]).toEqual([
            query,
            order,
            page,
            wanted.length,
            expected,
          ]);
        }
      }
  }, 120_000);
});
