import { afterAll, beforeAll, expect, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { leastLongestTurn } from "../support/turns.ts";

let app: TestApp;
let org: TestOrg;
beforeAll(async () => {
  app = await startTestApp();
  org = await app.org();
});
afterAll(() => app.close());

it.each([
  {
    // Nearly as many as an object may have, and as much as a form may have.
    many: "labels of links",
    field: "external_urls",
    given: Object.fromEntries(
      Array.from({ length: 19_000 }, (_, at) => [`label ${at}`, { href: "x".repeat(470) }]),
    ),
    change: { "label 1": { href: "new" } },
  },
  {
    many: "parents of a commit",
    field: "git_commit_info",
    given: { sha1: "1", branch: "a", parents: Array.from({ length: 250_000 }, (_, at) => String(at)) },
    change: { branch: "new" },
  },
])(
  "lets others in between while it keeps and compares many $many",
  async ({ field, given, change }) => {
    // Written here, not in the turns that are measured.
    const written = JSON.stringify(given);
    const inOtherOrder = JSON.stringify(Object.fromEntries(Object.entries(given).toReversed()));
    const changed = JSON.stringify({ ...given, ...change });
    let times = 0;
    const held = await leastLongestTurn(50, async () => {
      times += 1;
      const send = async (value: string): Promise<number> => {
        const parts = { data_json: `{"name":"${field}-${times}","${field}":${value}}` };
        return (await org.member.request("PUT", `/trails/${org.name}/web`, { parts })).status;
      };
      expect([await send(written), await send(inOtherOrder), await send(changed)]).toEqual([201, 200, 200]);
    });
    expect(held).toBeLessThan(50);
    const { json } = await org.reader.get(`/trails/${org.name}/web/${field}-${times}`);
    const events: { type: string; changes?: string[] }[] = json.events;
    expect(events.map(({ type, changes }) => [type, changes])).toEqual([
      ["trail_reported", undefined],
      ["trail_updated", [field]],
    ]);
  },
  60_000,
);
