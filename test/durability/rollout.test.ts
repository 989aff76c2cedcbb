import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";

import { Balancer } from "../support/balancer.ts";
import { readChartRollout } from "../support/chart-rollout.ts";
import { withExternalDatabase } from "../support/cloned-database.ts";
import { copyProgram } from "../support/program.ts";
import { initialAdminKey, type ServerProcess, startServer } from "../support/server-process.ts";
import { organizationOf, SteadyLoad } from "../support/steady-load.ts";

// With the chart's own seconds, three pods and 200 requests a second; otherwise as many pods as the chart has by itself, asked much more often whether they
// are ready, so that a machine that is busy has time to notice.
const given = process.env["WAYBILL_TEST_ROLLOUTS"];
const rollouts = Number(given ?? 1);
const perSecond = given === undefined ? 50 : 200;
const chart = readChartRollout();
const periodMs = given === undefined ? 100 : chart.readiness.periodSeconds * 1000;
const drainSeconds = given === undefined ? 3 : chart.drainSeconds;
const replicas = given === undefined ? chart.replicas : 3;

let folder: string;
let program: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "waybill-rollout-"));
  program = copyProgram(folder);
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Makes another version of the program, of the same files. */
function nextVersion(version: string): void {
  const file = join(folder, "package.json");
  const manifest = JSON.parse(readFileSync(file, "utf8")) as object;
  rmSync(file);
  writeFileSync(file, JSON.stringify({ ...manifest, version }));
}

async function versionOf({ url }: ServerProcess): Promise<string | undefined> {
  const figures = await (await fetch(`${url}/metrics`)).text();
  return /^waybill_build_info\{version="([^"]*)"/m.exec(figures)?.[1];
}

/** Pods behind a balancer, replaced as a Deployment replaces them. */
class Pods {
  readonly all: ServerProcess[] = [];
  readonly stopped: Promise<number | null>[] = [];
  readonly #balancer: Balancer;
  readonly #start: () => Promise<ServerProcess>;

  constructor(balancer: Balancer, start: () => Promise<ServerProcess>) {
    this.#balancer = balancer;
    this.#start = start;
  }

  /** Starts one more, and waits until the balancer knows it. */
  async add(): Promise<void> {
    const server = await this.#start();
    this.all.push(server);
    this.#balancer.add(server.url);
    while (!this.#balancer.isReady(server.url)) await delay(20);
  }

  /** Replaces all: none is stopped before there is one more than is needed, and nobody waits for those that end. */
  async replace(): Promise<void> {
    const old = [...this.all];
    while (old.length > 0) {
      while (this.all.length < replicas + chart.maxSurge) await this.add();
      while (this.all.length > replicas - chart.maxUnavailable && old.length > 0) this.#stop(old.shift()!);
    }
    while (this.all.length < replicas) await this.add();
    await Promise.all(this.stopped);
  }

  #stop(server: ServerProcess): void {
    this.all.splice(this.all.indexOf(server), 1);
    const late = setTimeout(() => void server.kill(), chart.graceSeconds * 1000);
    const stopped = server.stop().finally(() => {
      clearTimeout(late);
      this.#balancer.remove(server.url);
    });
    this.stopped.push(stopped);
  }
}

describe("a rollout of the chart", () => {
  it("leaves a pod that stops long enough in service for everybody to notice", () => {
    const { drainSeconds, graceSeconds, readiness } = chart;
    // What is asked just after a pod began to stop is refused first.
    expect(readiness.periodSeconds * readiness.failureThreshold).toBeLessThan(drainSeconds);
    // Requests, then jobs, have 20 seconds each.
    expect(drainSeconds + 2 * 20).toBeLessThan(graceSeconds);
  });

  it(
    `fails no request of ${perSecond} a second while ${replicas} pods are replaced`,
    { timeout: 120_000 + rollouts * 240_000 },
    async () => {
      const { path, timeoutSeconds, failureThreshold } = chart.readiness;
      const balancer = await Balancer.start({
        path,
        periodMs,
        timeoutMs: timeoutSeconds * 1000,
        failureThreshold,
      });
      onTestFinished(() => balancer.stop());
      await withExternalDatabase(async (DATABASE_URL, dataDir) => {
        const environment = {
          DATABASE_URL,
          WAYBILL_SECRET_KEY: "a key that all servers have, 32 characters",
          WAYBILL_DRAIN_SECONDS: String(drainSeconds),
          WAYBILL_WEB: "0",
          WAYBILL_RATE_LIMIT_PER_KEY: "0",
          WAYBILL_RATE_LIMIT_PER_ADDRESS: "0",
        };
        const pods = new Pods(balancer, () => startServer(dataDir, environment, { program }));
        // The first makes the key.
        for (let pod = 0; pod < replicas; pod += 1) await pods.add();
        const { port } = balancer;
        const key = initialAdminKey(dataDir);
        const load = new SteadyLoad({ port, key, org: await organizationOf(port, key) }, perSecond);
        const done = load.run();
        for (let rollout = 1; rollout <= rollouts; rollout += 1) {
          const version = `0.1.${rollout}`;
          nextVersion(version);
          await pods.replace();
          for (const pod of pods.all) expect(await versionOf(pod)).toBe(version);
        }
        load.stop();
        await done;
        const lost = await load.lost();
        expect(await Promise.all(pods.stopped)).toEqual(pods.stopped.map(() => 0));
        expect(pods.stopped).toHaveLength(replicas * rollouts);
        for (const pod of pods.all) expect(await pod.stop()).toBe(0);
        if (given !== undefined) console.log({ statuses: load.statuses, longest: Math.round(load.longest) });
        expect(load.statuses).toEqual({ "200": expect.any(Number), "201": expect.any(Number) });
        expect(load.statuses["200"]).toBeGreaterThan(perSecond);
        expect(lost).toEqual([]);
      });
    },
  );
});
