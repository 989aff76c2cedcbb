import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { transaction } from "../../src/db/transaction.ts";
import { reportArtifacts } from "../../src/modules/process/artifacts/service.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody, fingerprintOf, repoInfo } from "../support/artifacts.ts";
import { amount } from "../support/thorough.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const day = 86_400;

async function report(org: TestOrg, more: Record<string, unknown> = {}): Promise<void> {
  await org.member.post(`/artifacts/${org.name}/f`, artifactBody({ trail_name: "t", ...more }));
}

async function list(org: TestOrg, query = "") {
  const answer = await org.reader.get(`/builds/${org.name}${query}`);
  expect(answer.status, answer.text).toBe(200);
  return answer.json;
}

describe("the window of builds", () => {
  it("reaches back 28 days from its end, which is now", async () => {
    const org = await app.org();
    await report(org);
    app.clock.advance(27 * day);
    await report(org);
    expect((await list(org)).total_count).toBe(2);
    app.clock.advance(2 * day);
    expect(await list(org)).toMatchObject({ total_count: 1, has_builds_ever: true });
    app.clock.advance(40 * day);
    expect(await list(org)).toMatchObject({
      total_count: 0,
      builds: [],
      total_pages: 0,
      has_builds_ever: true,
    });
    const [, first] = (await list(org, "?start_ts=0")).builds;
    expect((await list(org, `?end_ts=${first.created_at}`)).total_count).toBe(1);
    expect((await list(org, `?end_ts=${first.created_at + 28 * day}`)).total_count).toBe(2);
    expect((await list(org, `?end_ts=${first.created_at + 28 * day + 1}`)).total_count).toBe(1);
  });

  it("includes both ends to the microsecond", async () => {
    const org = await app.org();
    await report(org);
    const at = (await list(org)).builds[0].created_at as number;
    const micro = (steps: number): string => (at + steps * 1e-6).toFixed(6);
    for (const [query, count] of [
      [`start_ts=${at}&end_ts=${at}`, 1],
      [`start_ts=${micro(2)}`, 0],
      [`end_ts=${micro(-2)}`, 0],
      [`start_ts=${micro(-2)}&end_ts=${micro(2)}`, 1],
    ] as const)
      expect((await list(org, `?${query}`)).total_count, query).toBe(count);
  });

  it("may be spelled with hyphens; the underscores win", async () => {
    const org = await app.org();
    await report(org);
    expect((await list(org, "?start-ts=0&end-ts=1")).total_count).toBe(0);
    expect((await list(org, "?start-ts=0")).total_count).toBe(1);
    expect((await list(org, "?start-ts=0&end-ts=1&end_ts=9999999999")).total_count).toBe(1);
  });

  it("must not end before it starts, even when only one end is given", async () => {
    const org = await app.org();
    for (const query of ["start_ts=2&end_ts=1", "start_ts=9999999999", "start-ts=2&end-ts=1.5"]) {
      const answer = await org.reader.get(`/builds/${org.name}?${query}`);
      expect(answer.status).toBe(400);
      expect(answer.json.errors).toHaveProperty(["query.start_ts"]);
    }
    expect((await list(org, "?start_ts=1&end_ts=1")).total_count).toBe(0);
    expect((await list(org, "?end_ts=5")).total_count).toBe(0);
  });

  it("keeps the order of builds when the clock goes back", async () => {
    const org = await app.org();
    await report(org, { filename: "a" });
    app.clock.advance(-100);
    await report(org, { filename: "b" });
    app.clock.advance(100);
    const { builds } = await list(org);
    expect(builds.map((build: { filename: string }) => build.filename)).toEqual(["b", "a"]);
    expect(builds[0].created_at).toBe(builds[1].created_at);
  });
});

interface ModelBuild {
  fingerprint: string;
  created_at: number;
  /** Index of the repo, or none. */
  repo: number | null;
}

// Two repos share a name, two an external id.
const repos = [
  { name: "web", repo_id: "1", provider: "github" },
  { name: "web", repo_id: "2", provider: "gitlab" },
  { name: "api", repo_id: "1", provider: "gitlab" },
  { name: "lib", repo_id: "3", provider: null },
] as const;

const start = 1_600_000_000;

/** Times come in few steps, so that many builds share one. */
const reportArbitrary = fc.record({
  fingerprint: fc.integer({ min: 0, max: 60 }),
  step: fc.constantFrom(0, 0, 0, 1, 2, 0.25),
  repo: fc.option(fc.integer({ min: 0, max: 3 })),
});

const queryArbitrary = fc.record({
  page: fc.integer({ min: 1, max: 12 }),
  per_page: fc.integer({ min: 0, max: 12 }),
  from: fc.integer({ min: -4, max: 160 }),
  length: fc.integer({ min: 0, max: 160 }),
  filter: fc.constantFrom(
    {},
    { repo_name: "web" },
    { repo_name: "lib" },
    { repo_id: "1" },
    { repo_id: "1", repo_name: "web" },
    { repo_name: "nope" },
  ),
});

type Query = typeof queryArbitrary extends fc.Arbitrary<infer T> ? T : never;

function expected(builds: ModelBuild[], query: Query) {
  const filter: { repo_name?: string; repo_id?: string } = query.filter;
  const fits = (build: ModelBuild): boolean => {
    if (Object.keys(filter).length === 0) return true;
    const repo = build.repo === null ? undefined : repos[build.repo];
    if (repo === undefined) return false;
    return (
      (filter.repo_name === undefined || repo.name === filter.repo_name) &&
      (filter.repo_id === undefined || repo.repo_id === filter.repo_id)
    );
  };
  const ever = builds.filter(fits);
  const first = start + query.from / 4;
  const found = ever
    .filter((build) => build.created_at >= first && build.created_at <= first + query.length / 4)
    .toReversed();
  const offset = (query.page - 1) * query.per_page;
  return {
    total_count: found.length,
    total_pages: query.per_page === 0 ? 0 : Math.ceil(found.length / query.per_page),
    has_builds_ever: ever.length > 0,
    builds: found
      .slice(offset, offset + query.per_page)
      .map(({ fingerprint, created_at }) => ({ fingerprint, created_at })),
  };
}

/** Reports in batches of odd sizes; what the model remembers is the first of each fingerprint. */
async function load(
  org: TestOrg,
  reports: (typeof reportArbitrary extends fc.Arbitrary<infer T> ? T : never)[],
) {
  const model = new Map<string, ModelBuild>();
  let at = start;
  const rows = reports.map(({ fingerprint, step, repo }) => {
    at += step;
    const key = fingerprintOf(String(fingerprint));
    if (!model.has(key)) model.set(key, { fingerprint: key, created_at: at, repo });
    return { key, at, repo };
  });
  for (let index = 0; index < rows.length; index += 7)
    await transaction(app.deps.db, (tx) =>
      reportArtifacts(
        app.deps,
        tx,
        org.id,
        rows.slice(index, index + 7).map(({ key, at, repo }) => ({
          flow_name: "f",
          actor: { id: null, name: "loader" },
          created_at: at,
          artifact: {
            fingerprint: key,
            filename: "x",
            build_url: "",
            commit_url: "",
            trail_name: "t",
            repo_info:
              repo === null
                ? null
                : {
                    name: repos[repo]!.name,
                    id: repos[repo]!.repo_id,
                    provider: repos[repo]!.provider,
                    url: "u",
                  },
          },
        })),
      ),
    );
  return [...model.values()];
}

describe("lists of builds, against a model", () => {
  it("hold what the window, the filters and the page say", async () => {
    const runs = fc.record({
      reports: fc.array(reportArbitrary, { maxLength: 80, size: "max" }),
      queries: fc.array(queryArbitrary, { minLength: 12, maxLength: 12 }),
    });
    await fc.assert(
      fc.asyncProperty(runs, async ({ reports, queries }) => {
        const org = await app.org();
        const model = await load(org, reports);
        for (const query of queries) {
          const first = start + query.from / 4;
          const parameters = new URLSearchParams({
            page: String(query.page),
            per_page: String(query.per_page),
            start_ts: String(first),
            end_ts: String(first + query.length / 4),
            ...query.filter,
          });
          const answer = await list(org, `?${parameters.toString()}`);
          expect({
            total_count: answer.total_count,
            total_pages: answer.total_pages,
            has_builds_ever: answer.has_builds_ever,
            builds: answer.builds.map(({ fingerprint, created_at }: ModelBuild) => ({
              fingerprint,
              created_at,
            })),
          }).toEqual(expected(model, query));
        }
      }),
      { numRuns: amount(10, 25) },
    );
  });

  it("hold what was reported over HTTP while the clock moved", async () => {
    const org = await app.org();
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 20 * day }), { minLength: 3, maxLength: 6 }),
        async (steps) => {
          for (const step of steps) {
            app.clock.advance(step);
            await report(org, { repo_info: repoInfo("r") });
          }
          const all = (await list(org, "?start_ts=0&per_page=50")).builds.map(
            (b: ModelBuild) => b.created_at,
          );
          const now = app.clock.now();
          const recent = all.filter((at: number) => at >= now - 28 * day + 5).length;
          const { total_count } = await list(org);
          expect(total_count === recent || total_count === recent + 1).toBe(true);
          expect(all).toEqual(all.toSorted((a: number, b: number) => b - a));
        },
      ),
      { numRuns: amount(3, 6) },
    );
  });
});
