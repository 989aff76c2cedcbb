import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody, commitOf, fingerprintOf } from "../support/artifacts.ts";
import { commitInfo, reported, type Shown } from "../support/attestations.ts";
import type { Answer } from "../support/client.ts";
import { amount } from "../support/thorough.ts";
import { leastLongestTurn } from "../support/turns.ts";

let app: TestApp;
let org: TestOrg;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  org = await app.org();
});

function search(query: string): Promise<Answer> {
  return org.reader.get(`/attestations/${org.name}${query}`);
}

/** Names found, in order; the search must succeed. */
async function names(query: string): Promise<string[]> {
  const { status, json } = await search(query);
  expect(status).toBe(200);
  return json.data.map((one: Shown) => one.attestation_name);
}

/** All pages, following the links. */
async function allPages(query: string): Promise<Shown[][]> {
  const pages: Shown[][] = [];
  let next: string | undefined = query;
  while (next !== undefined) {
    const { status, json } = await search(next);
    expect(status).toBe(200);
    pages.push(json.data);
    next = json._links.next === undefined ? undefined : new URL(json._links.next.href).search;
    expect(pages.length).toBeLessThan(100);
  }
  return pages;
}

async function refusal(path: string): Promise<Record<string, string>> {
  const { status, json } = await org.reader.get(`/attestations/${org.name}${path}`);
  expect([status, json.message]).toEqual([400, "Input payload validation failed"]);
  return json.errors;
}

describe("an attestation by id", () => {
  it("is the one object that reads by name show", async () => {
    await reported(org, "unit", { user_data: { a: 1 }, git_commit_info: commitInfo(commitOf("x")) });
    await reported(org, "lint");
    const [shown] = (await org.reader.get(`/attestations/${org.name}/ci/trail/run/unit`)).json;
    const { status, json } = await search(`?attestation_id=${shown.attestation_id}`);
    expect(status).toBe(200);
    expect(json).toEqual({
      data: [shown],
      _links: {
        self: {
          href: `http://waybill.test/api/v2/attestations/${org.name}?attestation_id=${shown.attestation_id}`,
        },
      },
    });
  });

  it.each(["0199a3c4-5d6e-7000-8abc-12345678", "no-id", "0"])("that nothing has is empty: %s", async (id) => {
    await reported(org, "unit");
    expect(await names(`?attestation_id=${id}`)).toEqual([]);
  });

  it("of another organization is not found", async () => {
    await reported(org, "unit");
    const [shown] = (await search("")).json.data;
    const other = await app.org();
    const { json } = await other.reader.get(
      `/attestations/${other.name}?attestation_id=${shown.attestation_id}`,
    );
    expect(json.data).toEqual([]);
  });

  it("has to pass the other filters, too", async () => {
    await reported(org, "unit");
    const [{ attestation_id: id }] = (await search("")).json.data;
    expect(await names(`?attestation_id=${id}&flow=ci&type=generic&is_compliant=true&name=unit`)).toEqual([
      "unit",
    ]);
    for (const filter of ["flow=cd", "type=junit", "is_compliant=false", "name=lint", "to_timestamp=5"])
      expect(await names(`?attestation_id=${id}&${filter}`)).toEqual([]);
  });
});

describe("where a found attestation says it is read", () => {
  async function selfPaths(): Promise<string[]> {
    const { json } = await search("");
    const prefix = `http://waybill.test/api/v2/attestations/${org.name}/ci/`;
    return json.data.map((one: { _links: { self: { href: string } } }) =>
      one._links.self.href.replace(prefix, ""),
    );
  }

  it("is its trail, its artifact, or the artifact it was made for before", async () => {
    const [fingerprint, commit] = [fingerprintOf(), commitOf("y")];
    await reported(org, "pending", { target_artifacts: ["api"], git_commit_info: commitInfo(commit) });
    expect(await selfPaths()).toEqual(["trail/run/pending"]);
    const answer = await org.member.post(
      `/artifacts/${org.name}/ci`,
      artifactBody({
        fingerprint,
        git_commit: commit,
        trail_name: "run",
        template_reference_name: "api",
      }),
    );
    expect(answer.status).toBe(201);
    await reported(org, "bound", { artifact_fingerprint: fingerprint });
    await reported(org, "plain");
    const paths = await selfPaths();
    expect(paths).toEqual([
      "trail/run/plain",
      `artifact/${fingerprint}/bound`,
      `artifact/${fingerprint}/pending`,
    ]);
    const found = (await search("")).json.data;
    for (const [index, path] of paths.entries()) {
      const { json } = await org.reader.get(`/attestations/${org.name}/ci/${path}`);
      expect(json).toEqual([found[index]]);
    }
  });
});

describe("a search", () => {
  it("is newest first, with the exact name", async () => {
    for (const name of ["unit", "unit-2", "lint", "unit"]) await reported(org, name);
    expect(await names("")).toEqual(["unit", "lint", "unit-2", "unit"]);
    expect(await names("?name=unit")).toEqual(["unit", "unit"]);
    expect(await names("?name=UNIT")).toEqual([]);
  });

  it("by pattern finds it anywhere in the name", async () => {
    for (const name of ["unit", "unit-2", "lint", "e2e"]) await reported(org, name);
    expect(await names("?name_regex=ni")).toEqual(["unit-2", "unit"]);
    expect(await names("?name_regex=%5Cd%24")).toEqual(["unit-2"]);
    expect(await names("?name_regex=(%3Fi)%5EL")).toEqual(["lint"]);
    expect(await names("?name_regex=.")).toHaveLength(4);
    expect(await names("?name_regex=nothing")).toEqual([]);
  });

  it.each(["(", "a{2000}", "(?=a)", "(a)%5C1", "x".repeat(501), "((a{9}){9}){99}"])(
    "refuses a pattern that cannot be matched quickly: %s",
    async (pattern) => {
      await reported(org, "unit");
      const errors = await refusal(`?name_regex=${encodeURIComponent(decodeURIComponent(pattern))}`);
      expect(Object.keys(errors)).toEqual(["query.name_regex"]);
    },
  );

  /** Adds attestations beside the one that was reported as `unit`, with numbers as names, this many characters long. */
  async function insert(from: number, to: number, length = 10): Promise<void> {
    await app.deps.db.pool.query(
      `insert into attestations (org_id, id, flow_id, trail_id, name, type, is_compliant, created_at, created_by_name)
      select org_id, gen_random_uuid(), flow_id, trail_id, lpad(n::text, $4, 'n'), type, true, created_at, created_by_name
      from attestations, generate_series($2::int, $3::int) n where org_id = $1 and name = 'unit'`,
      [org.id, from, to, length],
    );
  }

  /** Takes all its instructions for each character: each character may be one that any of them stands for. */
  const dear = encodeURIComponent("(?:.?){900}[^a-zA-Z0-9_,-]");

  it("refuses to try more than 20,000 names", async () => {
    await reported(org, "unit");
    await insert(2, 20_000);
    expect(await names("?name_regex=%5Eunit%24")).toEqual(["unit"]);
    await insert(20_001, 20_001);
    const { status, json } = await search("?name_regex=unit");
    expect(status).toBe(400);
    expect(json.message).toContain("more than 20000 names");
  });

  it("lets others in between while it tries a long pattern on long names", async () => {
    await reported(org, "unit");
    await insert(1, 100, 512);
    const held = await leastLongestTurn(50, async () => {
      expect(await names(`?name_regex=${dear}`)).toEqual([]);
    });
    expect(held).toBeLessThan(50);
  });

  it("refuses a pattern that is too large for so many names, and tries one that is long", async () => {
    await reported(org, "unit");
    await insert(2, 20_000, 28);
    expect(await refusal(`?name_regex=${dear}`)).toEqual({
      "query.name_regex": expect.stringMatching(
        /^Regular expression repeats too much for 20000 names of 559976 characters together \[input: /,
      ),
    });
    const long = Array.from({ length: 49 }, (_, at) => `job-${at}-${at % 2}x`).join("|");
    expect(await names(`?name_regex=${encodeURIComponent(`${long}|unit`)}`)).toEqual(["unit"]);
  });

  it("refuses a name together with a pattern", async () => {
    expect(await refusal("?name=a&name_regex=b")).toEqual({
      "query.name_regex": "Use either 'name' or 'name_regex' [input: b]",
    });
  });

  it("by flows takes any of them, former names included, and unknown ones find nothing", async () => {
    await reported(org, "a", {}, { flow: "one" });
    await reported(org, "b", {}, { flow: "two" });
    await reported(org, "c", {}, { flow: "three" });
    expect(await names("?flow=one&flow=three&flow=unknown&flow=one")).toEqual(["c", "a"]);
    expect(await names("?flow=unknown")).toEqual([]);
    const renamed = await org.admin.put(`/flows/${org.name}/two/rename`, { new_name: "four" });
    expect(renamed.status).toBe(200);
    expect(await names("?flow=two&flow=four")).toEqual(["b"]);
  });

  it("by types takes any of them, and calls decisions by their bare name", async () => {
    await reported(org, "gen");
    await reported(org, "tests", { junit_results: [] }, { kind: "junit" });
    const decision = { type_name: "decision", control: "SC-1", attestation_data: { is_compliant: true } };
    await reported(org, "ok", decision, { kind: "system" });
    expect(await names("?type=decision")).toEqual(["ok"]);
    expect(await names("?type=system:decision")).toEqual(["ok"]);
    expect(await names("?type=junit&type=decision")).toEqual(["ok", "tests"]);
    expect(await names("?type=custom:none")).toEqual([]);
    expect(await names("?type=toString")).toEqual([]);
  });

  it("by verdict", async () => {
    await reported(org, "good");
    await reported(org, "bad", { is_compliant: false });
    expect(await names("?is_compliant=true")).toEqual(["good"]);
    expect(await names("?is_compliant=false")).toEqual(["bad"]);
  });

  it("by time, the bounds included", async () => {
    for (const name of ["a", "b", "c"]) await reported(org, name);
    const [c, b, a]: Shown[] = (await search("")).json.data;
    expect([a, b, c].map((one) => one?.attestation_name)).toEqual(["a", "b", "c"]);
    expect(await names(`?from_timestamp=${b!.created_at}`)).toEqual(["c", "b"]);
    expect(await names(`?to_timestamp=${b!.created_at}`)).toEqual(["b", "a"]);
    expect(await names(`?from_timestamp=${b!.created_at}&to_timestamp=${b!.created_at}`)).toEqual(["b"]);
    expect(await names("?to_timestamp=1")).toEqual([]);
  });

  it("takes empty texts for filters that were not set", async () => {
    await reported(org, "a");
    expect(await names("?attestation_id=&name=&name_regex=&flow=&type=&after=")).toEqual(["a"]);
  });

  it.each([
    ["per_page=0", "query.per_page"],
    ["per_page=101", "query.per_page"],
    ["is_compliant=maybe", "query.is_compliant"],
    ["from_timestamp=1e", "query.from_timestamp"],
    ["to_timestamp=-1", "query.to_timestamp"],
    ["after=xyz", "query.after"],
    ["name=%00", "query.name"],
    ["flow=%00", "query.flow[0]"],
  ])("refuses %s", async (query, key) => {
    expect(Object.keys(await refusal(`?${query}`))).toEqual([key]);
  });

  it("has 20 on a page unless said, and the last page has no next one", async () => {
    for (let count = 0; count < 21; count += 1) await reported(org, `n${count}`);
    const pages = await allPages("");
    expect(pages.map((page) => page.length)).toEqual([20, 1]);
    expect(await allPages("?per_page=21")).toHaveLength(1);
    expect(await allPages("?per_page=100&flow=ci")).toHaveLength(1);
  });

  it("goes on where the page ended, whatever is reported meanwhile", async () => {
    for (const name of ["a", "b", "c"]) await reported(org, name);
    const first = (await search("?per_page=2&is_compliant=true")).json;
    await reported(org, "later");
    const { json } = await search(new URL(first._links.next.href).search);
    expect(first.data.map((one: Shown) => one.attestation_name)).toEqual(["c", "b"]);
    expect(json.data.map((one: Shown) => one.attestation_name)).toEqual(["a"]);
    expect(json._links.next).toBeUndefined();
  });

  it("after an attestation there is not is empty", async () => {
    await reported(org, "a");
    expect(await names("?after=0199a3c4-5d6e-7000-8abc-12345678")).toEqual([]);
  });
});

describe("any combination of filters", () => {
  const flows = ["one", "two"];
  const reportedNames = ["unit", "lint", "unit-e2e"];

  it("finds on its pages, each once and in order, what a plain filter does", async () => {
    for (let index = 0; index < 24; index += 1) {
      const kind = index % 3 === 0 ? "junit" : "generic";
      const verdict = kind === "junit" ? { junit_results: [] } : { is_compliant: index % 4 !== 1 };
      await reported(org, reportedNames[(index % 7) % 3]!, verdict, { flow: flows[(index >> 1) % 2]!, kind });
    }
    const everything = (await search("?per_page=100")).json.data as (Shown & {
      flow_name: string;
      attestation_type: string;
      is_compliant: boolean;
    })[];
    expect(everything).toHaveLength(24);
    const some = <T>(values: T[]) => fc.option(fc.subarray(values, { minLength: 1 }), { nil: undefined });
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          flow: some([...flows, "none"]),
          type: some(["generic", "junit", "jira"]),
          name: fc.option(fc.constantFrom(...reportedNames), { nil: undefined }),
          regex: fc.option(fc.constantFrom("unit", "n", "^l", "x"), { nil: undefined }),
          verdict: fc.option(fc.boolean(), { nil: undefined }),
          from: fc.option(fc.nat(23), { nil: undefined }),
          to: fc.option(fc.nat(23), { nil: undefined }),
          per_page: fc.integer({ min: 1, max: 9 }),
        }),
        async ({ flow, type, name, regex, verdict, from, to, per_page }) => {
          const pattern = name === undefined ? regex : undefined;
          const [first, last] = [from, to].map((at) =>
            at === undefined ? undefined : everything[at]!.created_at,
          );
          const query = new URLSearchParams({ per_page: String(per_page) });
          for (const one of flow ?? []) query.append("flow", one);
          for (const one of type ?? []) query.append("type", one);
          const single = {
            name,
            name_regex: pattern,
            is_compliant: verdict,
            from_timestamp: first,
            to_timestamp: last,
          };
          for (const [key, value] of Object.entries(single))
            if (value !== undefined) query.set(key, String(value));
          const wanted = everything.filter(
            (one) =>
              (flow?.includes(one.flow_name) ?? true) &&
              (type?.includes(one.attestation_type) ?? true) &&
              (name === undefined || one.attestation_name === name) &&
              (pattern === undefined || new RegExp(pattern).test(one.attestation_name)) &&
              (verdict === undefined || one.is_compliant === verdict) &&
              (first === undefined || one.created_at >= first) &&
              (last === undefined || one.created_at <= last),
          );
          const pages = await allPages(`?${query.toString()}`);
          expect(pages.flat()).toEqual(wanted);
          expect(pages.slice(0, -1).every((page) => page.length === per_page)).toBe(true);
        },
      ),
      { numRuns: amount(25, 60), seed: 9 },
    );
  });
});
