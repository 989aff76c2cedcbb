import { createHash, randomInt } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";

import { describe, expect, it } from "vitest";

import {
  initialAdminKey,
  postmasterPid,
  type ServerProcess,
  startServer,
  withUsedDataDir,
} from "../support/server-process.ts";
import { amount } from "../support/thorough.ts";

/** Each of the three ways to die once, at least. */
const cycles = amount(3, 20);
const writers = 8;

/** What the server has answered with success and may therefore never forget. */
interface Acknowledged {
  environments: string[];
  fingerprints: string[];
  /** Names of attestations, by their trails. */
  attestations: Map<string, string[]>;
}

interface Site {
  key: string;
  org: string;
}

function send(
  server: ServerProcess,
  key: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<Response> {
  const isForm = body instanceof FormData;
  return fetch(`${server.url}/api/v2${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(isForm ? {} : { "content-type": "application/json" }) },
    ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
    signal: AbortSignal.timeout(20_000),
  });
}

function fingerprintOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** A form with an attestation of this name. */
function attestationOf(name: string): FormData {
  const form = new FormData();
  form.set("data_json", JSON.stringify({ attestation_name: name, is_compliant: true, user_data: {} }));
  return form;
}

/** Writes until told to stop or until the server is gone, and notes what was acknowledged. */
async function write(
  server: ServerProcess,
  site: Site,
  label: string,
  into: Acknowledged,
  stop: AbortSignal,
): Promise<void> {
  for (let number = 0; !stop.aborted; number += 1) {
    const name = `${label}-${number}`;
    const fingerprint = fingerprintOf(name);
    const artifact = {
      fingerprint,
      filename: `web:${number}`,
      build_url: "https://ci.test/1",
      commit_url: "https://git.test/1",
      trail_name: `trail-${number % 5}`,
      template_reference_name: "web",
      repo_info: { id: "42", name: "acme/web", url: "https://git.test/web", provider: "github" },
    };
    try {
      const environment = { name, type: "server", description: "" };
      if ((await send(server, site.key, "PUT", `/environments/${site.org}`, environment)).ok)
        into.environments.push(name);
      if ((await send(server, site.key, "POST", `/artifacts/${site.org}/web`, artifact)).ok)
        into.fingerprints.push(fingerprint);
      const path = `/attestations/${site.org}/web/trail/${label}/generic`;
      if ((await send(server, site.key, "POST", path, attestationOf(name))).ok)
        into.attestations.set(label, [...(into.attestations.get(label) ?? []), name]);
    } catch {
      // The connection broke: nothing was acknowledged. With the server gone for good there is no more to do.
      await delay(20);
    }
  }
}

/** Waits until so many writers of a cycle have been told that their first round is done. */
async function acknowledgedTo(writers: number, cycle: string, { attestations }: Acknowledged): Promise<void> {
  const told = (): number => [...attestations.keys()].filter((label) => label.startsWith(cycle)).length;
  await expect.poll(told, { timeout: 60_000, interval: 10 }).toBeGreaterThanOrEqual(writers);
}

function killPostmaster(dataDir: string): void {
  const pid = postmasterPid(dataDir);
  if (pid === undefined) return;
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It was just being restarted.
  }
}

/** One way to die: the server, its PostgreSQL and then the server, or both at once. */
async function strike(server: ServerProcess, dataDir: string, cycle: number): Promise<void> {
  const way = cycle % 3;
  if (way !== 0) killPostmaster(dataDir);
  if (way === 1) await delay(randomInt(50, 400));
  await server.kill();
}

async function readAll(
  server: ServerProcess,
  site: Site,
  list: string,
  pick: (item: never) => string,
): Promise<Set<string>> {
  const found = new Set<string>();
  const key = list.split("/")[1]!;
  for (let page = 1; ; page += 1) {
    const answer = await send(server, site.key, "GET", `${list}?page=${page}&per_page=50`);
    expect(answer.status).toBe(200);
    const body = (await answer.json()) as Record<string, never[]> & { total_pages: number };
    for (const item of body[key]!) found.add(pick(item));
    if (page >= body.total_pages) return found;
  }
}

async function firstOrganization(server: ServerProcess, key: string): Promise<string> {
  const organizations = (await (await send(server, key, "GET", "/organizations")).json()) as {
    name: string;
    kind: string;
  }[];
  return organizations.find(({ kind }) => kind === "shared")!.name;
}

/** Lines of the log that speak of a fault. */
function faults(output: string): string[] {
  return output.split("\n").filter((line) => /"level":(50|60)/.test(line));
}

describe("kill -9 of the server and its PostgreSQL under concurrent writes", () => {
  it(
    `loses no acknowledged write in ${cycles} cycles, and every next start is clean`,
    { timeout: 300_000 },
    async () => {
      await withUsedDataDir(async (dataDir) => {
        const acknowledged: Acknowledged = { environments: [], fingerprints: [], attestations: new Map() };
        let server = await startServer(dataDir);
        const key = initialAdminKey(dataDir);
        const site = { key, org: await firstOrganization(server, key) };
        for (let cycle = 0; cycle < cycles; cycle += 1) {
          const stop = new AbortController();
          const busy = Array.from({ length: writers }, (_, writer) =>
            write(server, site, `c${cycle}-w${writer}`, acknowledged, stop.signal),
          );
          // At any moment, and each second time at any moment of writing, however slow the machine is.
          if (cycle % 2 === 0) await acknowledgedTo(3, `c${cycle}-`, acknowledged);
          await delay(randomInt(100, 500));
          await strike(server, dataDir, cycle);
          stop.abort();
          await Promise.all(busy);
          server = await startServer(dataDir);
          expect(faults(server.output())).toEqual([]);
        }
        expect(acknowledged.environments.length).toBeGreaterThan(cycles);
        expect(acknowledged.fingerprints.length).toBeGreaterThan(cycles);
        const environments = await readAll(
          server,
          site,
          `/environments/${site.org}`,
          ({ name }: { name: string }) => name,
        );
        expect(acknowledged.environments.filter((name) => !environments.has(name))).toEqual([]);
        const builds = await readAll(
          server,
          site,
          `/builds/${site.org}`,
          ({ fingerprint }: { fingerprint: string }) => fingerprint,
        );
        expect(acknowledged.fingerprints.filter((fingerprint) => !builds.has(fingerprint))).toEqual([]);
        expect(acknowledged.attestations.size).toBeGreaterThan(cycles);
        for (const [trail, names] of acknowledged.attestations) {
          const answer = await send(server, site.key, "GET", `/trails/${site.org}/web/${trail}`);
          const { compliance_status: verdict } = (await answer.json()) as {
            compliance_status: { attestations_statuses: { attestation_name: string }[] };
          };
          const judged = verdict.attestations_statuses.map(({ attestation_name }) => attestation_name);
          expect(judged).toEqual(expect.arrayContaining(names));
        }
        expect(await server.stop()).toBe(0);
      });
    },
  );
});
