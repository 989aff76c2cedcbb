import type { FastifyInstance } from "fastify";
import pino from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import type { Endpoint } from "../../src/contract/endpoint.ts";
import { endpoints } from "../../src/contract/index.ts";
import type { AnyHandler } from "../../src/http/mount.ts";
import { pagesOf } from "../../src/http/page-links.ts";
import { createServer } from "../../src/http/server.ts";
import { createMetrics } from "../../src/modules/kernel/metrics.ts";
import { csvHandlers, gates, handlers } from "../../src/modules/handlers.ts";
import { pagePaths } from "../../web/paths.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { createEnvironment } from "../support/environments.ts";
import { fillPath, findOperation } from "../support/operations.ts";

let app: TestApp;
let org: TestOrg;
/** The same program, at the address of an installation below a prefix that has pages. */
let server: FastifyInstance;
beforeAll(async () => {
  app = await startTestApp();
  org = await app.org();
  const deps = {
    ...app.deps,
    metrics: createMetrics(),
    config: { ...app.deps.config, publicUrl: "https://example.test/waybill" },
  };
  server = await createServer(deps, {
    log: pino({ level: "silent" }),
    mounted: {
      endpoints,
      handlers: handlers as unknown as Record<string, AnyHandler>,
      csv: csvHandlers,
      gates,
      keyUse: { used: () => {}, flush: async () => {}, stop: async () => {} },
    },
    health: { problem: async () => undefined },
    version: "0.0.0",
    web: { shell: "", assets: new Map(), pages: pagePaths },
    servers: () => 1,
  });
});
afterAll(async () => {
  await server.close();
  await app.close();
});

const person = { "sec-fetch-dest": "document", accept: "text/html,application/xhtml+xml,*/*;q=0.8" };

function open(path: string, headers: Record<string, string> = person, method: "GET" | "HEAD" = "GET") {
  return server.inject({ method, url: `/api/v2${path}`, headers });
}

const fp = "a".repeat(64);

/** What is opened, and the page that it leads to. */
const rows: [path: string, page: string][] = [
  ["/environments/acme", "/acme/environments"],
  ["/environments/acme/prod", "/acme/environments/prod"],
  ["/environments/acme/prod/events?page=2", "/acme/environments/prod/log"],
  ["/environments/acme/prod/deployments", "/acme/environments/prod/deployments"],
  ["/environments/acme/prod/explain", "/acme/environments/prod/snapshots/latest"],
  ["/environments/acme/prod/explain?snapshot=7", "/acme/environments/prod/snapshots/7"],
  ["/snapshots/acme/prod", "/acme/environments/prod/snapshots"],
  ["/snapshots/acme/prod/12", "/acme/environments/prod/snapshots/12"],
  ["/snapshots/acme/prod/%2312", "/acme/environments/prod/snapshots/12"],
  ["/snapshots/acme/prod/-1", "/acme/environments/prod/snapshots/latest"],
  ["/snapshots/acme/prod/-4", "/acme/environments/prod/snapshots/~3"],
  ["/snapshots/acme/prod/~3", "/acme/environments/prod/snapshots/~3"],
  ["/snapshots/acme/prod/@%7B2.days.ago%7D", "/acme/environments/prod/snapshots/%40%7B2.days.ago%7D"],
  ["/env-diff/acme?snappish1=prod~1&snappish2=prod%237", "/acme/diff?from=prod~1&to=prod%237"],
  ["/flows/acme?per_page=5", "/acme/flows"],
  ["/flows/acme/web-ci", "/acme/flows/web-ci"],
  ["/artifacts/acme?flow_name=web-ci", "/acme/flows/web-ci/artifacts"],
  [`/artifacts/acme/web-ci/fingerprint/${fp}`, `/acme/flows/web-ci/artifacts/${fp}`],
  [`/artifacts/acme/web-ci/fingerprint/${fp}/explain`, `/acme/flows/web-ci/artifacts/${fp}`],
  ["/artifacts/acme/web-ci/commit_sha/abc123", "/acme/commits/abc123"],
  ["/trails/acme?flow=web-ci", "/acme/trails?flow=web-ci"],
  ["/trails/acme/web-ci", "/acme/flows/web-ci"],
  ["/trails/acme/web-ci/v1.2", "/acme/flows/web-ci/trails/v1.2"],
  ["/trails/acme/web-ci/v1.2/explain", "/acme/flows/web-ci/trails/v1.2"],
  ["/attestations/acme?attestation_id=7f-1", "/acme/attestations?attestation_id=7f-1"],
  ["/attestations/acme/web-ci", "/acme/attestations?flow=web-ci"],
  ["/attestations/acme/web-ci/trail/v1.2/junit", "/acme/flows/web-ci/trails/v1.2"],
  [`/attestations/acme/web-ci/artifact/${fp}/junit`, `/acme/flows/web-ci/artifacts/${fp}`],
  ["/repos/acme", "/acme/repos"],
  ["/repos/acme/team/web%20site?id=0a", "/acme/repos/team/web%20site?id=0a"],
  ["/repos/acme/live-artifacts/team/web?provider=github", "/acme/repos/team/web?provider=github"],
  ["/policies/acme", "/acme/policies"],
  ["/policies/acme/prod", "/acme/policies/prod"],
  ["/controls/acme", "/acme/controls"],
  ["/controls/acme/SOC-1", "/acme/controls/SOC-1"],
  ["/controls/acme/SOC-1/coverage", "/acme/controls/SOC-1"],
  ["/controls/acme/SOC-1/decisions", "/acme/controls/SOC-1"],
  ["/controls/acme/SOC-1/decisions/0a", "/acme/controls/SOC-1"],
  ["/controls/acme/SOC-1/versions", "/acme/controls/SOC-1"],
  ["/controls/acme/SOC-1/versions/2", "/acme/controls/SOC-1"],
];

describe("an address of the API that a person opens", () => {
  it.each(rows)("%s leads to %s, signed in or not", async (path, page) => {
    const answer = await open(path);
    expect([answer.statusCode, answer.headers.location]).toEqual([
      303,
      `https://example.test/waybill${page}`,
    ]);
    expect(answer.headers).toMatchObject({ vary: "Accept, Sec-Fetch-Dest", "cache-control": "no-store" });
  });

  it.each(rows)("%s leads to %s, which is a page", (_path, page) => {
    const patterns = pagePaths.map((path) => path.replace(/\/\$$/, "/.+").replace(/\$\w+/g, "[^/]+"));
    const own = page.replace(/\?.*/, "");
    expect(patterns.some((pattern) => new RegExp(`^${pattern}$`).test(own))).toBe(true);
  });

  it("is in this test for each that has a page", () => {
    const tested = new Set(rows.map(([path]) => findOperation("GET", `/api/v2${path}`)));
    expect(Object.keys(pagesOf).filter((id) => !tested.has(id))).toEqual([]);
    const reads = Object.entries(endpoints as Record<string, Endpoint>).filter(
      ([, { method }]) => method === "GET",
    );
    expect(Object.keys(pagesOf).filter((id) => !reads.some(([read]) => read === id))).toEqual([]);
  });

  it("works below the prefix, too", async () => {
    const answer = await server.inject({ url: "/waybill/api/v2/policies/acme/prod", headers: person });
    expect(answer.headers.location).toBe("https://example.test/waybill/acme/policies/prod");
  });

  it.each([
    "/trails/acme/web-ci/v1.2/audit_package",
    "/trails/acme/web-ci/v1.2/audit_pdf",
    `/artifacts/acme/web-ci/${fp}/audit_package`,
    "/attestations/acme/web-ci/trail/v1.2/attestation/0a/evidence",
    "/environments/acme/prod/auditlog",
    "/artifacts/acme",
    "/builds/acme",
    "/user/api-keys",
  ])("%s answers itself: a file, or without a page", async (path) => {
    expect((await open(path)).statusCode).toBe(401);
    expect((await open("/sign-in/methods")).statusCode).toBe(200);
  });

  it("answers as ever whatever stands in it", async () => {
    for (const place of ["..", "%00", "a%2F..%2Fb", "%0d%0aset-cookie:x", "//evil.test", "%ED%A0%80"]) {
      const answer = await open(`/policies/acme/${place}`);
      expect(answer.statusCode, place).toBeLessThan(500);
      if (answer.statusCode === 303)
        expect(new URL(answer.headers.location!).origin).toBe("https://example.test");
      expect(answer.headers["set-cookie"]).toBeUndefined();
    }
  });
});

describe("a program", () => {
  const key = (): Record<string, string> => ({ authorization: `Bearer ${org.reader.key}` });

  it.each<[string, Record<string, string>]>([
    ["that says nothing", {}],
    ["that takes anything", { accept: "*/*" }],
    ["that takes HTML", { accept: "text/html" }],
    ["of a page", { "sec-fetch-dest": "empty", accept: "text/html" }],
    ["that is a document of JSON", { "sec-fetch-dest": "document", accept: "application/json" }],
  ])("%s is led nowhere", async (_which, headers) => {
    await createEnvironment(org, "prod");
    const answer = await open(`/environments/${org.name}/prod`, { ...key(), ...headers });
    expect([answer.statusCode, answer.json().name]).toEqual([200, "prod"]);
  });

  it.each(Object.keys(pagesOf))("that reads %s is led nowhere", async (id) => {
    const path = fillPath((endpoints as Record<string, Endpoint>)[id]!.path, org.name);
    const answer = await open(path, key());
    expect(answer.statusCode).not.toBe(303);
  });

  it("asks with HEAD or writes, and is led nowhere", async () => {
    expect((await open(`/policies/${org.name}`, { ...key(), ...person }, "HEAD")).statusCode).toBe(200);
    const written = await server.inject({
      method: "PUT",
      url: `/api/v2/policies/${org.name}`,
      headers: person,
    });
    expect(written.statusCode).toBe(401);
  });

  it("and a person get the answer where there are no pages", async () => {
    const answer = await org.reader.get(`/policies/${org.name}`, { headers: person });
    expect(answer.status).toBe(200);
  });
});
