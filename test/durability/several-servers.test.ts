import { join } from "node:path";

import { it, type TestContext } from "vitest";

import { fingerprintOf } from "../support/artifacts.ts";
import { withExternalDatabase } from "../support/cloned-database.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { type ServerProcess, startServer } from "../support/server-process.ts";
import { ask, call, type Site, startSite } from "../support/site.ts";

interface Servers {
  /** The first server, which answers requests. */
  site: Site;
  /** Starts another one on the same database. */
  start(environment?: Record<string, string>): Promise<ServerProcess>;
  /** Where all of them keep their evidence. */
  dataDir: string;
}

/** Starts a server that answers requests, on a database of the test's own. */
async function withServers(
  environment: Record<string, string>,
  work: (servers: Servers) => Promise<void>,
): Promise<void> {
  await withExternalDatabase(async (DATABASE_URL, dataDir) => {
    const all = {
      DATABASE_URL,
      WAYBILL_ALLOW_PRIVATE_TARGETS: "1",
      WAYBILL_SECRET_KEY: "a key that all servers have, 32 characters",
      ...environment,
    };
    const site = await startSite(dataDir, { ...all, WAYBILL_ROLES: "api" });
    await work({ site, dataDir, start: (more) => startServer(dataDir, { ...all, ...more }) });
  });
}

/** Has a receiver told of every artifact of a flow. */
async function tell(site: Site, { onTestFinished }: TestContext): Promise<Receiver> {
  const receiver = await startReceiver();
  onTestFinished(() => receiver.stop());
  await ask(site, "PUT", `/flows/${site.org}`, { name: "web", description: "" });
  await ask(site, "PUT", `/actions/${site.org}/flows`, {
    name: "told",
    flows: ["web"],
    triggers: ["ON_ATTESTED_PROVENANCE"],
    targets: [{ type: "WEBHOOK", webhook: receiver.url }],
  });
  return receiver;
}

/** Reports an artifact. @returns whether that was acknowledged. */
async function report(at: { url: string; key: string }, org: string, name: string): Promise<boolean> {
  const body = {
    fingerprint: fingerprintOf(name),
    filename: name,
    build_url: "https://ci.test/1",
    commit_url: "https://git.test/1",
    trail_name: name,
  };
  return call(at, "POST", `/artifacts/${org}/web`, body).then(
    ({ ok }) => ok,
    () => false,
  );
}

/** Lists the trails of the flow, which are fewer than three pages. */
async function trailNames(site: Site): Promise<Set<string>> {
  const pages = [1, 2, 3].map((page) =>
    ask(site, "GET", `/trails/${site.org}/web?per_page=100&page=${page}`),
  );
  return new Set(
    (await Promise.all(pages))
      .flatMap((page) => (page.data ?? page) as { name: string }[])
      .map(({ name }) => name),
  );
}

async function servers(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^waybill_servers (\d+)$/m.exec(text)?.[1]);
}

// At the same time: much of each is waiting until a server that was killed is missed.
it.concurrent("each do what their role is, and share the limits", { timeout: 240_000 }, async (context) => {
  const { expect } = context;
  await withServers({ WAYBILL_RATE_LIMIT_PER_KEY: "40" }, async ({ site, start, dataDir }) => {
    const receiver = await tell(site, context);
    expect(await report(site, site.org, "first")).toBe(true);

    const jobs = await start({ WAYBILL_ROLES: "jobs" });
    // It alone may have told: the first one was asked, and works on no jobs.
    await expect.poll(() => receiver.received.length, { timeout: 60_000 }).toBe(1);
    const answers = ["/live", "/ready", "/metrics", "/api/v2/organizations", "/", "/openapi.json"];
    const statuses = await Promise.all(
      answers.map(async (path) => (await fetch(`${jobs.url}${path}`)).status),
    );
    expect(statuses).toEqual([200, 200, 200, 404, 404, 404]);
    expect(await servers(site.url)).toBe(1);

    const other = await start({ WAYBILL_ROLES: "api" });
    for (const url of [site.url, other.url])
      await expect.poll(() => servers(url), { timeout: 60_000 }).toBe(2);
    const asked = { url: other.url, key: site.key };
    const few = await Promise.all(
      Array.from({ length: 25 }, async () => (await call(asked, "GET", "/organizations")).status),
    );
    expect(few.filter((status) => status === 200)).toHaveLength(20);
    expect(few.filter((status) => status === 429)).toHaveLength(5);

    const own = join(dataDir, "own");
    await expect(start({ WAYBILL_EVIDENCE_DIR: own })).rejects.toThrow(
      `This is not where the evidence of this database is kept: ${join(own, "waybill-evidence")} is missing.`,
    );

    await site.server.kill();
    await expect.poll(() => servers(other.url), { timeout: 60_000 }).toBe(1);
    expect((await call(asked, "GET", "/organizations")).status).toBe(200);
    for (const server of [jobs, other]) expect(await server.stop()).toBe(0);
  });
});

it.concurrent(
  "lose nothing and tell everything once when one of each role is killed",
  { timeout: 240_000 },
  async (context) => {
    const { expect } = context;
    await withServers({}, async ({ site, start }) => {
      const receiver = await tell(site, context);
      const [otherApi, jobs, otherJobs] = [
        await start({ WAYBILL_ROLES: "api" }),
        await start({ WAYBILL_ROLES: "jobs" }),
        await start({ WAYBILL_ROLES: "jobs" }),
      ];
      const urls = [site.url, otherApi.url];
      const acknowledged: string[] = [];
      let next = 0;
      const write = async (which: number): Promise<void> => {
        while (next < 240) {
          next += 1;
          const name = `run-${next}`;
          if (next === 80) await jobs.kill();
          if (next === 120) await otherApi.kill();
          if (await report({ url: urls[which % 2]!, key: site.key }, site.org, name)) acknowledged.push(name);
        }
      };
      await Promise.all(Array.from({ length: 8 }, (_, which) => write(which)));

      const names = await trailNames(site);
      expect(acknowledged.length).toBeGreaterThan(100);
      expect(acknowledged.filter((name) => !names.has(name))).toEqual([]);

      // What the killed one had under way is told again under the same id; nothing is told under two.
      const toldOf = (): Map<string, Set<string>> => {
        const ids = new Map<string, Set<string>>();
        for (const { headers, body } of receiver.received) {
          const name = /"(run-\d+)"/.exec(body)?.[1] ?? body;
          ids.set(name, (ids.get(name) ?? new Set()).add(String(headers["webhook-id"])));
        }
        return ids;
      };
      await expect.poll(() => toldOf().size, { timeout: 120_000 }).toBe(names.size);
      expect([...toldOf()].filter(([, ids]) => ids.size > 1)).toEqual([]);
      expect(acknowledged.filter((name) => !toldOf().has(name))).toEqual([]);
      for (const server of [site.server, otherJobs]) expect(await server.stop()).toBe(0);
    });
  },
);
