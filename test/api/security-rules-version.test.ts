import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg, type TestUser } from "../support/app.ts";
import type { Answer, Client } from "../support/client.ts";

let app: TestApp;
let root: TestUser;

beforeAll(async () => {
  app = await startTestApp({}, { maintained: true });
  root = await app.user({ instance_admin: true });
});
afterAll(() => app.close());

const put = (client: Client, path: string, rules: Record<string, unknown>): Promise<Answer> =>
  client.request("PUT", path, { json: rules });

const rulesOf = ({ name }: TestOrg): string => `/organizations/${name}/security`;

describe("rules of an organization", () => {
  it("are not replaced by who has read others, and tell them so", async () => {
    const here = await app.org();
    const path = rulesOf(here);
    const read = (await here.admin.get(path)).json;
    const { version } = read;
    const first = await put(here.admin, path, { unused_days: 90, version });
    expect(first.status).toBe(200);
    expect(first.json.version).not.toBe(version);
    const second = await put(here.admin, path, { require_expiry: true, version });
    expect([second.status, second.json]).toEqual([
      409,
      {
        message: "Somebody else has changed these rules meanwhile: read them again",
        reason: "changed_meanwhile",
      },
    ]);
    expect((await here.admin.get(path)).json).toMatchObject({ unused_days: 90, require_expiry: false });
    expect((await put(here.admin, path, { require_expiry: true, version: first.json.version })).status).toBe(
      200,
    );
    // Changed and changed back they are what was read. Who sends no version replaces whatever is there.
    expect((await put(here.admin, path, {})).json.version).toBe(version);
    expect((await put(here.admin, path, { warn_days: 3, version })).status).toBe(200);
    expect((await put(here.admin, path, { version: "v".repeat(65) })).status).toBe(400);
    expect(
      (await here.admin.get(`/audit-log/${here.name}?resource_type=settings_changed`)).json.entries,
    ).toHaveLength(4);
  });

  it("may be sent again by who got no answer: once they are as they were sent nothing changes", async () => {
    const here = await app.org();
    const path = rulesOf(here);
    const { version } = (await here.admin.get(path)).json;
    const rules = { unused_days: 90, allowed_addresses: ["127.0.0.0/8"], version };
    const first = await put(here.admin, path, rules);
    const again = await put(here.admin, path, rules);
    expect([again.status, again.json]).toEqual([200, first.json]);
    const { entries } = (await here.admin.get(`/audit-log/${here.name}?resource_type=settings_changed`)).json;
    expect(entries).toHaveLength(1);
  });

  it("are kept from one of two who save at once", async () => {
    const here = await app.org();
    const path = rulesOf(here);
    const { version } = (await here.admin.get(path)).json;
    const days = [30, 60, 90, 120];
    const answers = await Promise.all(
      days.map((unused_days) => put(here.admin, path, { unused_days, version })),
    );
    expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([
      200, 409, 409, 409,
    ]);
  });
});

describe("rules of the installation", () => {
  it("are not replaced by who has read others, either", async () => {
    const path = "/instance/security";
    const { version } = (await root.client.get(path)).json;
    expect((await put(root.client, path, { warn_days: 20, version })).status).toBe(200);
    expect((await put(root.client, path, { warn_days: 21, version })).status).toBe(409);
    expect((await put(root.client, path, {})).json.version).toBe(version);
  });
});
