import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";

const execute = promisify(execFile);

/** What the hosted service's chart renders, and what its container sent of these pods when it was run with that. */
interface Recorded {
  chart: string;
  values: unknown;
  args: string[];
  /** What it finds at /config/config.yaml. */
  config: string;
  pods: { items: { metadata: { name: string; namespace: string } }[] };
  requests: { method: "GET" | "PUT"; path: string; body: unknown; status: number }[];
}
/** What is looked at of the objects that the chart renders. */
interface Rendered {
  kind: string;
  data?: Record<string, string>;
  spec?: { jobTemplate?: { spec: { template: { spec: { containers: Container[] } } } } };
}
interface Container {
  args: string[];
  env: { name: string; value?: string }[];
}

const fixture = join(import.meta.dirname, "..", "support", "fixtures", "kubernetes-reporter.json");
const recorded = JSON.parse(readFileSync(fixture, "utf8")) as Recorded;

const chart = process.env["WAYBILL_TEST_REPORTER_CHART"];
const client = process.env["WAYBILL_TEST_REPORTER_CLIENT"];
const hasHelm = spawnSync("sh", ["-c", "command -v helm"]).status === 0;

let app: TestApp;
let folder: string;
beforeAll(async () => {
  app = await startTestApp();
  folder = mkdtempSync(join(tmpdir(), "waybill-reporter-"));
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await app.close();
});

/** Checks that both environments were made and show what runs: containers of pods that run, and their pods. */
async function expectReported(org: TestOrg): Promise<void> {
  const shop = await org.reader.get(`/snapshots/${org.name}/shop/1`);
  const seen = (shop.json.artifacts as { fingerprint: string; pods: object }[]).map(
    ({ fingerprint, pods }) => [fingerprint[0], Object.keys(pods).toSorted()],
  );
  expect(seen.toSorted((one, other) => String(one).localeCompare(String(other)))).toEqual([
    ["1", ["checkout-6d9f7c8b5-9q7zt", "checkout-6d9f7c8b5-x2k4p"]],
    ["2", ["catalog-0"]],
    ["3", ["catalog-0"]],
  ]);
  const rest = await org.reader.get(`/snapshots/${org.name}/everything-else/1`);
  expect(rest.json.artifacts).toEqual([expect.objectContaining({ fingerprint: "5".repeat(64) })]);
  const environment = await org.reader.get(`/environments/${org.name}/shop`);
  expect(environment.json).toMatchObject({ type: "K8S", description: "What the shop runs" });
}

describe("the hosted service's Kubernetes reporter", () => {
  it("is answered what it sends, request by request", async () => {
    const org = await app.org();
    for (const { method, path, body, status } of recorded.requests) {
      const address = path.replace("/api/v2", "").replace("ORG", org.name);
      const answer = method === "GET" ? await org.member.get(address) : await org.member.put(address, body);
      expect([method, address, answer.status]).toEqual([method, address, status]);
    }
    await expectReported(org);
  });

  it.skipIf(chart === undefined || !hasHelm)(
    "is started with these arguments by its chart (WAYBILL_TEST_REPORTER_CHART is its folder, helm on the path)",
    async () => {
      const values = join(folder, "values.json");
      writeFileSync(values, JSON.stringify(recorded.values));
      const { stdout } = await execute("helm", ["template", "reporter", chart!, "--values", values]);
      const documents = parseAllDocuments(stdout).map((one) => one.toJS() as Rendered);
      const config = documents.find(({ kind }) => kind === "ConfigMap")?.data?.["config.yaml"];
      const job = documents.find(({ kind }) => kind === "CronJob")?.spec?.jobTemplate;
      const container = job!.spec.template.spec.containers[0]!;
      expect(container.args).toEqual(recorded.args);
      expect(config).toBe(recorded.config);
      expect(container.env).toContainEqual({ name: "KOSLI_HOST", value: "https://waybill.example.org" });
    },
  );

  it.skipIf(client === undefined)(
    "reports with these arguments what a cluster runs (WAYBILL_TEST_REPORTER_CLIENT is its program)",
    async () => {
      const cluster = createServer((request, response) => {
        const { pathname } = new URL(request.url!, "http://cluster");
        const namespace = /^\/api\/v1\/namespaces\/([^/]+)\/pods$/.exec(pathname)?.[1];
        const items = recorded.pods.items.filter(({ metadata }) => metadata.namespace === namespace);
        const names = new Set(recorded.pods.items.map(({ metadata }) => metadata.namespace));
        const namespaces = [...names].map((name) => ({ metadata: { name } }));
        const answer =
          namespace === undefined
            ? { kind: "NamespaceList", apiVersion: "v1", metadata: {}, items: namespaces }
            : { ...recorded.pods, items };
        response.setHeader("content-type", "application/json").end(JSON.stringify(answer));
      });
      await new Promise<void>((resolve) => cluster.listen(0, "127.0.0.1", resolve));
      const { port } = cluster.address() as AddressInfo;
      const kubeconfig = join(folder, "kubeconfig");
      const access = {
        apiVersion: "v1",
        kind: "Config",
        clusters: [{ name: "here", cluster: { server: `http://127.0.0.1:${port}` } }],
        users: [{ name: "reporter", user: { token: "of a service account" } }],
        contexts: [{ name: "here", context: { cluster: "here", user: "reporter" } }],
        "current-context": "here",
      };
      writeFileSync(kubeconfig, JSON.stringify(access));
      const config = join(folder, "config.yaml");
      writeFileSync(config, recorded.config);

      const org = await app.org();
      const host = await app.server.listen({ port: 0, host: "127.0.0.1" });
      const args = recorded.args.map((argument) => (argument === "/config/config.yaml" ? config : argument));
      const told = await execute(client!, [...args, "--kubeconfig", kubeconfig], {
        env: { HOME: folder, KOSLI_HOST: host, KOSLI_ORG: org.name, KOSLI_API_TOKEN: org.member.key! },
      }).finally(() => cluster.close());
      expect(told.stdout + told.stderr).toContain("[3] pods were reported to environment shop");
      await expectReported(org);
    },
  );
});
