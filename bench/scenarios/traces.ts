// What traces cost: servers without them, with the share that is recorded unless something is said, and with all of them, in turn on one
// PostgreSQL. A request is a page of environments that is found each time: a server span and two parts. At last the collector dies under load.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { send } from "../api.ts";
import type { Filling } from "../data.ts";
import { findManagedPostgres } from "../../src/db/managed/index.ts";
import type { LoadResult } from "../load.ts";
import { runLoad } from "../measure.ts";
import { cpuOfNode, memoryOf, type Server, startServer } from "../processes.ts";
import { markdownTable } from "../report.ts";
import { atLeast, below, median, type Verdict } from "../scenario.ts";

const org = "harbor";
const environments = 20;
const connections = 8;
const target = 25;

/** The data that is read: an organization with a page of environments. */
export const tracesFilling: Filling = {
  name: "traces",
  plan: `an organization of ${environments} environments`,
  sources: ["scenarios/traces.ts"],
  fill,
};

async function fill(server: Server): Promise<void> {
  await send(server, "POST", "/api/v2/organizations", JSON.stringify({ name: org }));
  for (let at = 1; at <= environments; at += 1) {
    const environment = { name: `env-${at}`, type: "K8S", description: "" };
    await send(server, "PUT", `/api/v2/environments/${org}`, JSON.stringify(environment));
  }
}

/** Takes spans and throws them away. */
async function startCollector(): Promise<{ url: string; bytes: () => number; stop: () => void }> {
  let bytes = 0;
  const server = createServer((request, response) => {
    request.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
    });
    request.on("end", () => response.writeHead(200).end());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    bytes: () => bytes,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

interface Mode {
  name: string;
  server: Server;
  /** Microseconds of processor time of a request, in each round. */
  costs: number[];
}

async function loadOnce(server: Server, key: string, seconds: number): Promise<LoadResult> {
  const url = `${server.url}/api/v2/environments/${org}?per_page=${environments}`;
  const result = await runLoad({ url, key, connections, seconds });
  if (result.failed > 0) throw new Error(`${result.failed} requests failed`);
  return result;
}

async function measureOnce({ server, costs }: Mode, key: string, seconds: number): Promise<void> {
  const before = await cpuOfNode(server.pid);
  const { answered } = await loadOnce(server, key, seconds);
  costs.push((((await cpuOfNode(server.pid)).node - before.node) * 1e6) / answered);
}

/** Lets the collector die under load: no request may fail, and what cannot be sent may not pile up. */
async function measureDeath(
  server: Server,
  { key, seconds, kill }: { key: string; seconds: number; kill: () => void },
): Promise<Verdict[]> {
  // Until its memory is what it needs for this, dead collector or not.
  await loadOnce(server, key, 6 * seconds);
  const before = (await memoryOf(server)).node;
  const death = setTimeout(kill, (seconds * 1000) / 2);
  const { throughput } = await loadOnce(server, key, 3 * seconds);
  clearTimeout(death);
  const after = (await memoryOf(server)).node;
  const grown = before === undefined || after === undefined ? undefined : after - before;
  return [
    atLeast("all traces while the collector dies, none failed", throughput, 1000, " requests/s"),
    below("memory that its death costs", grown, 20, " MB"),
  ];
}

interface Modes {
  modes: Mode[];
  /** One that records all, and keeps no more spans to be sent than it does unless something is said. */
  mortal: Server;
}

async function startModes(dataDir: string, collector: string): Promise<Modes> {
  // A kept answer would have no statement.
  const env = { WAYBILL_KEPT_ANSWER_BYTES: "0", WAYBILL_DATABASE_POOL: "8" };
  const traced = { OTEL_EXPORTER_OTLP_ENDPOINT: collector, OTEL_BSP_MAX_QUEUE_SIZE: "20000" };
  const off = await startServer(dataDir, { env });
  const connection = await findManagedPostgres(dataDir);
  if (connection === undefined) throw new Error("The server's database is not within reach");
  const { host, port, user, database } = connection;
  const url = `postgres://${user}@localhost/${database}?host=${encodeURIComponent(host)}&port=${port}`;
  const others = { ...env, DATABASE_URL: url };
  const all = { OTEL_TRACES_SAMPLER: "parentbased_always_on" };
  const mortal = { ...others, OTEL_EXPORTER_OTLP_ENDPOINT: collector, ...all };
  const modes = [
    { name: "off", server: off, costs: [] },
    { name: "off, again", server: await startServer(dataDir, { env: others }), costs: [] },
    {
      name: "one in twenty",
      server: await startServer(dataDir, { env: { ...others, ...traced } }),
      costs: [],
    },
    { name: "all", server: await startServer(dataDir, { env: { ...others, ...traced, ...all } }), costs: [] },
  ];
  return { modes, mortal: await startServer(dataDir, { env: mortal }) };
}

/** Measures all of them in turn, round by round. */
export async function measureTraces(
  dataDir: string,
  { seconds, rounds }: { seconds: number; rounds: number },
): Promise<{ table: string; verdicts: Verdict[] }> {
  const collector = await startCollector();
  const { modes, mortal } = await startModes(dataDir, collector.url);
  const [off] = modes;
  const deaths: Verdict[] = [];
  try {
    if (off === undefined) throw new Error("There is no server");
    // Once for the compiler.
    for (let round = -1; round < rounds; round += 1)
      for (const mode of modes) {
        await measureOnce(mode, off.server.key, seconds);
        if (round === -1) mode.costs.length = 0;
      }
    if (collector.bytes() === 0) throw new Error("Nothing was exported");
    const { key } = off.server;
    deaths.push(...(await measureDeath(mortal, { key, seconds, kill: collector.stop })));
  } finally {
    await mortal.stop();
    for (const { server } of modes.toReversed()) await server.stop();
    collector.stop();
  }
  const more = ({ costs }: Mode): number => median(costs.map((cost, round) => cost - off.costs[round]!));
  const rows = modes.map((mode) => [
    mode.name,
    median(mode.costs).toFixed(0),
    more(mode).toFixed(1),
    mode.costs.map((cost) => cost.toFixed(0)).join(", "),
  ]);
  return {
    table: markdownTable(["traces", "µs a request", "more than off", "rounds"], rows),
    verdicts: [below("all traces, for a request", more(modes.at(-1)!), target, " µs"), ...deaths],
  };
}
