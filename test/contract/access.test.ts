import { afterAll, beforeAll, describe, expect, it } from "vitest";

import type { Endpoint } from "../../src/contract/endpoint.ts";
import { endpoints } from "../../src/contract/index.ts";
import { roleAllows, roles } from "../../src/domain/roles.ts";
import { startTestApp, type TestApp, type TestOrg, type TestUser } from "../support/app.ts";
import { fillPath } from "../support/operations.ts";

const all = Object.entries(endpoints as Record<string, Endpoint>);
const open = new Set(["public", "site", "signature"]);
const guarded = all.filter(([, { access }]) => !open.has(access.kind));
const inOrganization = all.filter(([, { access }]) => access.kind === "organization");

const denied = { message: "You don't have permission to access this resource" };

let app: TestApp;
let org: TestOrg;
let publicOrg: TestOrg;
let stranger: TestUser;

beforeAll(async () => {
  app = await startTestApp();
  org = await app.org();
  publicOrg = await app.org({ public: true });
  stranger = await app.user();
});
afterAll(() => app.close());

describe("every endpoint without working credentials", () => {
  it.each(guarded)("%s answers 401", async (_id, endpoint) => {
    const path = fillPath(endpoint.path, org.name);
    for (const client of [app.anonymous, app.as("not-a-key-of-anybody-here")]) {
      const answer = await client.request(endpoint.method, path);
      expect(answer.status).toBe(401);
      expect(answer.json).toEqual({ message: "Invalid or missing credentials" });
      expect(answer.headers["www-authenticate"]).toBe("Bearer");
    }
  });
});

describe("every endpoint of an organization the caller is not in", () => {
  it.each(inOrganization)("%s denies a private one", async (_id, endpoint) => {
    const path = fillPath(endpoint.path, org.name);
    const answer = await stranger.client.request(endpoint.method, path);
    expect(answer.status).toBe(403);
    expect(answer.json).toEqual({ message: `Access denied to /api/v2${path}` });
  });

  it.each(inOrganization)("%s tells nothing about one that does not exist", async (_id, endpoint) => {
    const path = fillPath(endpoint.path, "no-such-organization");
    const answer = await stranger.client.request(endpoint.method, path);
    if (endpoint.access.kind === "organization" && endpoint.access.unknown === "not_found")
      expect([answer.status, answer.json]).toEqual([404, { message: "Organization not found" }]);
    else expect([answer.status, answer.json]).toEqual([403, { message: `Access denied to /api/v2${path}` }]);
  });

  it.each(inOrganization)("%s of a public one is open only where it says so", async (_id, endpoint) => {
    const path = fillPath(endpoint.path, publicOrg.name);
    const anonymous = await app.anonymous.request(endpoint.method, path);
    const foreign = await stranger.client.request(endpoint.method, path);
    if (endpoint.access.kind === "organization" && endpoint.access.anonymous) {
      expect(endpoint.method).toBe("GET");
      for (const answer of [anonymous, foreign]) expect([200, 400, 404]).toContain(answer.status);
    } else {
      expect(anonymous.status).toBe(401);
      expect([foreign.status, foreign.json]).toEqual([403, denied]);
    }
  });
});

describe("every endpoint with a role too low", () => {
  const cases = inOrganization.flatMap(([id, endpoint]) =>
    endpoint.access.kind === "organization"
      ? roles
          .filter(
            (role) => endpoint.access.kind === "organization" && !roleAllows(role, endpoint.access.role),
          )
          .map((role) => [id, role, endpoint] as const)
      : [],
  );

  it.each(cases)("%s refuses a %s", async (_id, role, endpoint) => {
    const answer = await org[role].request(endpoint.method, fillPath(endpoint.path, org.name));
    const { access } = endpoint;
    const message = (access.kind === "organization" ? access.denied : undefined) ?? denied.message;
    expect([answer.status, answer.json]).toEqual([403, { message }]);
  });

  it.each(all.filter(([, { access }]) => access.kind === "instance_admin"))(
    "%s refuses who does not run the installation",
    async (_id, endpoint) => {
      const answer = await org.admin.request(endpoint.method, fillPath(endpoint.path, org.name));
      expect([answer.status, answer.json]).toEqual([403, denied]);
    },
  );
});
