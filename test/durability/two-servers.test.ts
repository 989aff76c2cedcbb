import { setTimeout as delay } from "node:timers/promises";

import { it } from "vitest";

import { fingerprintOf } from "../support/artifacts.ts";
import { withExternalDatabase } from "../support/cloned-database.ts";
import { startReceiver } from "../support/receiver.ts";
import { startServer } from "../support/server-process.ts";
import { ask, call, form, startSite } from "../support/site.ts";

// At the same time: most of the one is waiting.
it.concurrent(
  "tells within 30 seconds what another server was telling when it was killed, and nothing twice while that is only slow",
  { timeout: 240_000 },
  async ({ expect }) => {
    const receiver = await startReceiver();
    try {
      await withExternalDatabase(async (DATABASE_URL, dataDir) => {
        const environment = {
          DATABASE_URL,
          WAYBILL_ALLOW_PRIVATE_TARGETS: "1",
          WAYBILL_SECRET_KEY: "a key that both servers have, 32 characters",
        };
        const site = await startSite(dataDir, environment);
        await call(site, "PUT", `/flows/${site.org}`, { name: "web", description: "" });
        const targets = [{ type: "WEBHOOK", webhook: receiver.url }];
        const action = { name: "told", flows: ["web"], triggers: ["ON_ATTESTED_PROVENANCE"], targets };
        expect((await call(site, "PUT", `/actions/${site.org}/flows`, action)).status).toBe(201);
        receiver.answer(() => "never");
        const body = {
          fingerprint: fingerprintOf("web"),
          filename: "web",
          build_url: "https://ci.test/1",
          commit_url: "https://git.test/1",
          trail_name: "run",
        };
        expect((await call(site, "POST", `/artifacts/${site.org}/web`, body)).ok).toBe(true);
        await expect.poll(() => receiver.received.length, { timeout: 30_000 }).toBe(1);

        // Alive, but nothing moves in it: as slow as can be.
        process.kill(site.server.pid, "SIGSTOP");
        const other = await startServer(dataDir, environment);
        await delay(20_000);
        expect(receiver.received).toHaveLength(1);

        receiver.answer(() => 200);
        await site.server.kill();
        const killed = Date.now();
        await expect.poll(() => receiver.received.length, { timeout: 60_000, interval: 50 }).toBe(2);
        expect(Date.now() - killed).toBeLessThan(30_000);
        const [first, second] = receiver.received.map(({ headers }) => headers["webhook-id"]);
        expect(second).toBe(first);
        await delay(2_000);
        expect(receiver.received).toHaveLength(2);
        expect(await other.stop()).toBe(0);
      });
    } finally {
      await receiver.stop();
    }
  },
);

it.concurrent(
  "counts everything that two servers report on the same trails at once",
  { timeout: 120_000 },
  async ({ expect }) => {
    await withExternalDatabase(async (DATABASE_URL, dataDir) => {
      const environment = {
        DATABASE_URL,
        WAYBILL_SECRET_KEY: "a key that both servers have, 32 characters",
      };
      const site = await startSite(dataDir, environment);
      const other = await startServer(dataDir, environment);
      const servers = [site, { url: other.url, key: site.key }];
      await call(site, "PUT", `/flows/${site.org}`, { name: "web", description: "" });
      const { total_count: before } = await ask(site, "GET", `/audit-log/${site.org}?per_page=1`);
      const names = Array.from({ length: 60 }, (_, index) => `check-${index}`);
      const answers = await Promise.all(
        names.flatMap((attestation_name, index) =>
          servers.map((server, at) => {
            const path = `/attestations/${site.org}/web/trail/run-${index % 3}/generic`;
            const data = {
              attestation_name: `${attestation_name}-${at}`,
              is_compliant: true,
              user_data: {},
            };
            return call(server, "POST", path, form({ data_json: data }));
          }),
        ),
      );
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
      const judged = new Set<string>();
      for (const trail of ["run-0", "run-1", "run-2"]) {
        const { compliance_status: verdict } = await ask(site, "GET", `/trails/${site.org}/web/${trail}`);
        for (const { attestation_name } of verdict.attestations_statuses) judged.add(attestation_name);
      }
      expect(judged.size).toBe(2 * names.length);
      const { total_count: after } = await ask(site, "GET", `/audit-log/${site.org}?per_page=1`);
      expect(after - before).toBe(2 * names.length);
      expect(await other.stop()).toBe(0);
      expect(await site.server.stop()).toBe(0);
    });
  },
);
