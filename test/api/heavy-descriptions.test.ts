import { afterAll, beforeAll, expect, it, vi } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody } from "../support/artifacts.ts";
import { putFlow } from "../support/flows.ts";

/** What is read at most in one: a slice of four megabytes, and a little. */
const largestRow = 4_500_000;

let app: TestApp;
let org: TestOrg;
beforeAll(async () => {
  app = await startTestApp({}, { largestRow });
  org = await app.org();
});
afterAll(() => app.close());

/** Text of 1.5 megabytes, another one each time: with what JSON escapes, and with characters of three bytes. */
const long = (at: number): string => `${at} "€\\ ${String.fromCharCode(97 + at).repeat(1_500_000)}`;

it("shows heavy pages of flows as lighter ones, in every order, and all flows without pages", async () => {
  const count = 6;
  for (let at = 0; at < count; at += 1) {
    const put = await putFlow(org.member, org.name, {
      name: `flow-${at}`,
      description: at === 0 ? "" : long(at),
    });
    expect(put.status).toBe(201);
  }
  // Only the first has a report, which says much, too.
  const body = artifactBody({ trail_name: "run", repo_url: long(0) });
  expect((await org.member.post(`/artifacts/${org.name}/flow-0`, body)).status).toBe(201);
  for (const query of [
    "sort=name",
    "sort=name&sort_direction=desc",
    "sort=latest_activity&sort_direction=desc",
    "search_by_name=flow",
    "include=latest_trails",
  ]) {
    const page = async (more: string) => {
      const answer = await org.reader.get(`/flows/${org.name}?${query}&${more}`);
      expect([answer.status, answer.json.pagination?.total]).toEqual([200, count]);
      return answer.json.data;
    };
    const slices = vi.spyOn(app.deps.db, "sliced");
    const whole = await page("per_page=50");
    expect(slices.mock.calls.length).toBeGreaterThanOrEqual(count - 1);
    slices.mockRestore();
    const single = [];
    for (let at = 1; at <= count; at += 1) single.push(...(await page(`per_page=1&page=${at}`)));
    expect(JSON.stringify(whole) === JSON.stringify(single)).toBe(true);
    expect(whole).toHaveLength(count);
  }
  const all = await org.reader.get(`/flows/${org.name}`);
  const paged = await org.reader.get(`/flows/${org.name}?per_page=50`);
  expect(all.status).toBe(200);
  expect(JSON.stringify(all.json) === JSON.stringify(paged.json.data)).toBe(true);
}, 120_000);
