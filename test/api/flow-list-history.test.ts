import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import type { CreateArtifact } from "../../src/contract/artifacts.ts";
import type { FlowList } from "../../src/contract/flows.ts";
import { transaction } from "../../src/db/transaction.ts";
import { parseWireId } from "../../src/lib/ids.ts";
import { reportArtifacts } from "../../src/modules/process/artifacts/service.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody } from "../support/artifacts.ts";
import { attest } from "../support/attestations.ts";
import { putFlow, putTrail, sampleTemplate } from "../support/flows.ts";
import { amount } from "../support/thorough.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const name = fc.constantFrom("a", "b", "B", "c~1");
const trail = fc.constantFrom("t1", "t2");
const template = fc.option(fc.constantFrom(sampleTemplate, 'version: 1 # "quoted" \\ ünï\n'));
const step = fc.oneof(
  fc.record({
    kind: fc.constant("put" as const),
    name,
    description: fc.constantFrom("", 'says "so"\n\u2028'),
    visibility: fc.constantFrom("public", "private"),
    template,
  }),
  fc.record({ kind: fc.constant("rename" as const), name, to: name }),
  fc.record({ kind: fc.constant("tag" as const), name, value: fc.option(fc.constantFrom("shop", 'c"ö')) }),
  fc.record({ kind: fc.constant("move" as const), name, inside: fc.boolean() }),
  fc.record({ kind: fc.constant("archive" as const), name }),
  fc.record({ kind: fc.constant("trail" as const), name, trail, template }),
  fc.record({ kind: fc.constant("attest" as const), name, trail, good: fc.boolean() }),
  fc.record({ kind: fc.constant("override" as const), name, trail, good: fc.boolean() }),
  fc.record({
    kind: fc.constant("artifacts" as const),
    reports: fc.array(
      fc.record({
        name,
        trail,
        secondsAgo: fc.constantFrom(0, 1, 90, 200),
        repo: fc.option(
          fc.record({ name: fc.constantFrom("r1", "r2"), url: fc.constantFrom("https://x", "https://y") }),
        ),
        repo_url: fc.option(fc.constantFrom("", "https://own")),
      }),
      { minLength: 1, maxLength: 4 },
    ),
  }),
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

interface Reported {
  name: string;
  trail: string;
  secondsAgo: number;
  repo: { name: string; url: string } | null;
  repo_url: string | null;
}

/** Reports in one transaction and at one time, so that flows can be last reported to at the very same moment. */
function report(org: TestOrg, reports: readonly Reported[]): Promise<unknown> {
  const now = app.deps.clock.now();
  return transaction(app.deps.db, (tx) =>
    reportArtifacts(
      app.deps,
      tx,
      org.id,
      reports.map(({ name: flow_name, trail: trail_name, secondsAgo, repo, repo_url }) => ({
        flow_name,
        actor: { id: null, name: 'Ann "A" Lee' },
        created_at: now - secondsAgo,
        artifact: artifactBody({
          trail_name,
          repo_url,
          ...(repo === null ? {} : { repo_info: repo }),
        }) as CreateArtifact,
      })),
    ),
  );
}

function send(org: TestOrg, space: string, one: Exclude<Step, { kind: "artifacts" }>) {
  const { member } = org;
  const path = `/flows/${org.name}/${one.name}`;
  switch (one.kind) {
    case "put": {
      const { description, visibility } = one;
      return putFlow(
        member,
        org.name,
        { name: one.name, description, visibility },
        one.template ?? undefined,
      );
    }
    case "rename":
      return member.put(`${path}/rename`, { new_name: one.to });
    case "archive":
      return member.put(`${path}/archive`);
    case "move":
      return member.patch(path, { space_id: one.inside ? space : null });
    case "tag":
      return member.patch(
        `/tags/${org.name}/flow/${one.name}`,
        one.value === null ? { remove_tags: ["team"] } : { set_tags: { team: one.value } },
      );
    case "trail":
      return putTrail(member, `${org.name}/${one.name}`, { name: one.trail }, one.template ?? undefined);
    case "attest": {
      const body = { attestation_name: "bar", is_compliant: one.good };
      return attest(member, { org: org.name, flow: one.name, trail: one.trail }, "generic", body);
    }
    case "override": {
      const body = { attestation_name: "bar", new_compliance_status: one.good, reason: "so" };
      return attest(member, { org: org.name, flow: one.name, trail: one.trail }, "override", body);
    }
  }
}

/** Takes a step, which may be refused. */
async function take(org: TestOrg, space: string, one: Step): Promise<void> {
  if (one.kind === "artifacts") await report(org, one.reports);
  else expect((await send(org, space, one)).status).toBeLessThan(500);
}

/** The living flows as they have to be listed, by name: what each says alone, and what its trails say. */
async function flowsOf(org: TestOrg): Promise<FlowList[]> {
  const { rows } = await app.deps.db.pool.query(
    `select f.name, epoch(latest.last_modified_at)::float8 as latest_activity_at, latest.state as latest_state
     from flows f left join lateral (
       select t.last_modified_at, c.state from trails t
       join trail_compliance c on c.org_id = t.org_id and c.trail_id = t.id
       where t.org_id = f.org_id and t.flow_id = f.id order by t.last_modified_at desc, t.id desc limit 1
     ) latest on true
     where f.org_id = $1 and f.archived_at is null order by f.name`,
    [org.id],
  );
  return Promise.all(
    rows.map(async ({ name: flow, ...latest }) => ({
      ...(await org.reader.get(`/flows/${org.name}/${flow}`)).json,
      ...latest,
    })),
  );
}

function sorted(flows: readonly FlowList[], sort: string, direction: string): FlowList[] {
  const sign = direction === "asc" ? 1 : -1;
  if (sort === "name") return direction === "asc" ? [...flows] : flows.toReversed();
  const at = ({ latest_activity_at }: FlowList) => latest_activity_at ?? sign * Infinity;
  // Those at the same time stay in the order of their names.
  return flows.toSorted((one, other) => (at(one) === at(other) ? 0 : sign * (at(one) - at(other))));
}

async function expectList(org: TestOrg, query: string, expected: readonly FlowList[]): Promise<void> {
  const get = async (more: string) => (await org.reader.get(`/flows/${org.name}?${query}${more}`)).json;
  expect(await get("")).toEqual(expected);
  for (const per_page of [2, 3])
    for (let page = 1; page <= expected.length / per_page + 2; page += 1)
      expect(await get(`&per_page=${per_page}&page=${page}`)).toEqual({
        data: expected.slice((page - 1) * per_page, page * per_page),
        pagination: {
          total: expected.length,
          page,
          per_page,
          page_count: Math.ceil(expected.length / per_page),
        },
      });
}

async function expectLists(org: TestOrg, space: string): Promise<void> {
  const flows = await flowsOf(org);
  const filters: [query: string, fits: (flow: FlowList) => boolean][] = [
    ["", () => true],
    ["search_by_name=b&case_sensitive=false&", (flow) => flow.name.toLowerCase() === "b"],
    ["tag=team:shop&", ({ tags }) => tags["team"] === "shop"],
    [`space_id=${space}&tag=team&`, ({ tags, space_id }) => space_id === space && "team" in tags],
  ];
  for (const [query, fits] of filters)
    for (const sort of ["name", "latest_activity"])
      for (const direction of query === "" ? ["asc", "desc"] : ["desc"]) {
        const expected = sorted(flows.filter(fits), sort, direction);
        await expectList(org, `${query}sort=${sort}&sort_direction=${direction}`, expected);
      }
}

async function withSpace(): Promise<{ org: TestOrg; space: string }> {
  const org = await app.org();
  const { json } = await org.admin.post(`/spaces/${org.name}`, { name: "shop" });
  expect(parseWireId(json.id)).toBeDefined();
  return { org, space: json.id };
}

describe("lists of flows", () => {
  it("say what each flow says alone, after every step of any history", { timeout: 60_000 }, async () => {
    expect.hasAssertions();
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 8 }), async (steps) => {
        const { org, space } = await withSpace();
        for (const one of steps) {
          await take(org, space, one);
          await expectLists(org, space);
        }
      }),
      { numRuns: amount(2, 5), seed: 41 },
    );
  });

  it("say the same after changes and reports at the same time", { timeout: 60_000 }, async () => {
    expect.hasAssertions();
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 30, maxLength: 60 }), async (steps) => {
        const { org, space } = await withSpace();
        await Promise.allSettled(steps.map((one) => take(org, space, one)));
        await expectLists(org, space);
      }),
      { numRuns: amount(2, 4), seed: 42 },
    );
  });

  it("have their members in the published order", async () => {
    const org = await app.org();
    await putFlow(org.member, org.name, { name: "a" });
    for (const query of ["", "?per_page=1", "?sort=latest_activity&per_page=1", "?search_by_name=a"]) {
      const { json } = await org.reader.get(`/flows/${org.name}${query}`);
      expect(Object.keys((Array.isArray(json) ? json : json.data)[0])).toEqual([
        "id",
        "name",
        "description",
        "visibility",
        "org",
        "template",
        "repo_url",
        "tags",
        "space_id",
        "created_at",
        "created_by",
        "latest_activity_at",
        "latest_state",
      ]);
    }
  });

  it("have flows without activity on the pages after the others", async () => {
    const org = await app.org();
    const names = Array.from({ length: 7 }, (_, index) => `f${index}`);
    for (const flow of names) await putFlow(org.member, org.name, { name: flow });
    // All at one time, in order of name then.
    const reported = { trail: "t", secondsAgo: 0, repo: null, repo_url: null };
    await report(
      org,
      ["f5", "f1", "f3"].map((flow) => ({ ...reported, name: flow })),
    );
    for (const direction of ["asc", "desc"])
      for (const per_page of [1, 2, 3, 4, 5, 7]) {
        const seen: string[] = [];
        for (let page = 1; page <= Math.ceil(7 / per_page); page += 1) {
          const query = `sort=latest_activity&sort_direction=${direction}&per_page=${per_page}&page=${page}`;
          const { json } = await org.reader.get(`/flows/${org.name}?${query}`);
          seen.push(...json.data.map((flow: FlowList) => flow.name));
        }
        expect(seen).toEqual(["f1", "f3", "f5", "f0", "f2", "f4", "f6"]);
      }
  });
});
