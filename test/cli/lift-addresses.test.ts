import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";

import { liftAddressesCommand } from "../../src/cli/admin-keys.ts";
import { print } from "../../src/cli/output.ts";
import { startTestApp, type TestApp, type TestOrg, type TestUser } from "../support/app.ts";
import type { Client } from "../support/client.ts";

let app: TestApp;
let org: TestOrg;
let root: TestUser;
let lines: string[];

beforeAll(async () => {
  app = await startTestApp({ WAYBILL_TRUSTED_PROXIES: "loopback" });
  org = await app.org();
  root = await app.user({ instance_admin: true });
});
beforeEach(() => {
  lines = [];
  vi.spyOn(print, "line").mockImplementation((text = "") => void lines.push(text));
});
afterEach(() => vi.restoreAllMocks());
afterAll(() => app.close());

/** Sets rules from an address that nobody has any more after that. */
async function lockOut(client: Client, path: string, rules: object = {}): Promise<void> {
  const answer = await client.request("PUT", path, {
    json: { ...rules, allowed_addresses: ["192.0.2.0/24"] },
    headers: { "x-forwarded-for": "192.0.2.1" },
  });
  expect(answer.status).toBe(200);
}

describe("waybill admin lift-addresses", () => {
  it("lets everybody back into an organization, whose other rules stay, and records it there", async () => {
    const path = `/organizations/${org.name}/security`;
    await lockOut(org.admin, path, { unused_days: 90, warn_days: 7 });
    expect((await org.admin.get(path)).status).toBe(403);
    await liftAddressesCommand(app.deps, { org: org.name });
    expect(lines).toEqual([`Organization ${org.name} takes callers from anywhere again`]);
    const { status, json } = await org.admin.get(path);
    expect([status, json.allowed_addresses, json.unused_days, json.warn_days]).toEqual([200, null, 90, 7]);
    const log = await org.admin.get(`/audit-log/${org.name}?resource_type=settings_changed`);
    expect(log.json.entries[0]).toMatchObject({
      actor: "waybill admin",
      actor_kind: "system",
      action: "admin lift-addresses",
      resource: "allowed_addresses",
    });
  });

  it("lets everybody back in where the installation refuses them, and leaves organizations' own lists", async () => {
    const path = "/instance/security";
    const here = await app.org();
    await lockOut(here.admin, `/organizations/${here.name}/security`);
    await lockOut(root.client, path, { require_expiry: false, unused_days: 365 });
    for (const client of [root.client, org.admin]) expect((await client.get("/user")).status).toBe(403);
    await liftAddressesCommand(app.deps, { instance: true });
    expect(lines).toEqual(["The installation takes callers from anywhere again"]);
    const { status, json } = await root.client.get(path);
    expect([status, json.allowed_addresses, json.unused_days]).toEqual([200, null, 365]);
    expect((await org.admin.get(`/environments/${org.name}`)).status).toBe(200);
    expect((await here.admin.get(`/environments/${here.name}`)).status).toBe(403);
    const log = await root.client.get("/instance/audit-log?action=settings_changed");
    expect(log.json.entries[0]).toMatchObject({
      actor: "waybill admin",
      resource_type: "security_rules",
      details: { names: ["allowed_addresses"] },
    });
  });

  it("says where there is nothing to lift, and records nothing", async () => {
    const here = await app.org();
    await liftAddressesCommand(app.deps, { org: here.name });
    expect(lines).toEqual([`Organization ${here.name} has no list of addresses`]);
    const log = await here.admin.get(`/audit-log/${here.name}?resource_type=settings_changed`);
    expect(log.json.entries).toEqual([]);
  });

  it.each([
    [{}, "Say whose list of addresses: either --org NAME, or --instance"],
    [{ org: "x", instance: true }, "Say whose list of addresses: either --org NAME, or --instance"],
    [{ org: "no-such-organization" }, "Organization 'no-such-organization' does not exist"],
  ])("refuses %j with a sentence", async (options, message) => {
    await expect(liftAddressesCommand(app.deps, options)).rejects.toThrow(message);
  });
});
