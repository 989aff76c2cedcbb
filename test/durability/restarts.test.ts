import { setTimeout as delay } from "node:timers/promises";

import { expect, it } from "vitest";

import { builtProgram } from "../support/program.ts";
import { initialAdminKey, withUsedDataDir } from "../support/server-process.ts";
import { organizationOf, SteadyLoad } from "../support/steady-load.ts";
import { Succession } from "../support/succession.ts";
import { amount } from "../support/thorough.ts";

const given = process.env["WAYBILL_TEST_RESTARTS"];
const restarts = Number(given ?? amount(1, 5));
// How long a start takes on a busy machine says little: 5000 is promised for one that does nothing else.
const mostWait = Number(process.env["WAYBILL_TEST_RESTART_WAIT"] ?? 40_000);
const perSecond = 200;

it(
  `${restarts} restarts under ${perSecond} requests a second lose none where the socket is kept`,
  { timeout: 60_000 + restarts * 40_000 },
  async () => {
    await withUsedDataDir(async (dataDir) => {
      const servers = new Succession(dataDir, restarts + 1, [process.execPath, builtProgram()]);
      try {
        const port = await servers.port();
        let pid = await servers.ready(1);
        const key = initialAdminKey(dataDir);
        const load = new SteadyLoad({ port, key, org: await organizationOf(port, key) }, perSecond);
        const done = load.run();
        const waits: number[] = [];
        for (let restart = 1; restart <= restarts; restart += 1) {
          await delay(300 + Math.random() * 500);
          load.longest = 0;
          process.kill(pid, "SIGTERM");
          expect(await servers.endOf(restart)).toBe(0);
          pid = await servers.ready(restart + 1);
          await load.answered();
          waits.push(Math.round(load.longest));
        }
        load.stop();
        await done;
        const lost = await load.lost();
        process.kill(pid, "SIGTERM");
        await servers.ended;
        if (given !== undefined) console.log({ statuses: load.statuses, waits });
        expect(load.statuses).toEqual({ "200": expect.any(Number), "201": expect.any(Number) });
        expect(load.statuses["200"]).toBeGreaterThan(restarts * perSecond);
        expect(lost).toEqual([]);
        expect(servers.complaints).toEqual([]);
        expect(Math.max(...waits)).toBeLessThan(mostWait);
      } finally {
        servers.endAll();
      }
    });
  },
);
