// How one PostgreSQL serves several servers: what a request costs with one, two, four and eight of them, many organizations written to and
// read at once. Where they share their processors, as here, the rate says little; the cost says what it would be elsewhere.
import type { Filling } from "../data.ts";
import { send } from "../api.ts";
import { findManagedPostgres } from "../../src/db/managed/index.ts";
import { runLoad } from "../measure.ts";
import { cpuOfNode, cpuOfPostgres, type Server, startServer } from "../processes.ts";
import { markdownTable } from "../report.ts";
import type { LoadJob } from "../requests.ts";
import { atLeast, type Verdict } from "../scenario.ts";

const counts = [1, 2, 4, 8] as const;
const organizations = Array.from({ length: 16 }, (_, at) => `harbor-${at + 1}`);
const environmentsEach = 50;

/** Processors that the model gives PostgreSQL, beside one for each server. */
const postgresProcessors = 16;

const kinds = ["reads", "writes"] as const;
type Kind = (typeof kinds)[number];

/** How callers come: as many whatever the number of servers, or as many for each server. */
const spreads = ["in all", "each"] as const;
type Spread = (typeof spreads)[number];

/** Connections to one server; with more servers, in all or to each. */
const connections = 64;

/** What is measured in one go. */
interface Subject {
  kind: Kind;
  spread: Spread;
  servers: readonly Server[];
}

/** What a request took with so many servers. */
interface ServersFigure {
  kind: Kind;
  spread: Spread;
  servers: number;
  /** Answers a second, of all servers together. */
  rate: number;
  /** Processor time of one request, in microseconds. */
  node: number;
  postgres: number;
  /** Answers a second if each server had a processor, and PostgreSQL sixteen. */
  modelled: number;
}

interface Options {
  seconds: number;
  rounds: number;
}

/** The data that is read: organizations with a page of environments each. */
export const serversFilling: Filling = {
  name: "servers",
  plan: `${organizations.length} organizations of ${environmentsEach} environments`,
  sources: ["scenarios/servers.ts"],
  fill,
};

async function fill(server: Server): Promise<void> {
  for (const org of organizations) {
    await send(server, "POST", "/api/v2/organizations", JSON.stringify({ name: org }));
    for (let at = 1; at <= environmentsEach; at += 1) {
      const environment = { name: `env-${at}`, type: "K8S", description: "" };
      await send(server, "PUT", `/api/v2/environments/${org}`, JSON.stringify(environment));
    }
  }
}

/** Loads every server with its share of the organizations. */
function jobsFor({ kind, spread, servers }: Subject, key: string, seconds: number): LoadJob[] {
  const writers = 8;
  const ofAll = spread === "in all" ? connections : connections * servers.length;
  return Array.from({ length: writers }, (_, at) => {
    const { url } = servers[at % servers.length]!;
    const own = organizations.filter((_org, nth) => nth % writers === at);
    const job = { key, seconds, connections: ofAll / writers };
    if (kind === "reads") {
      const paths = own.map((org) => `/api/v2/environments/${org}?per_page=50`);
      return { ...job, url: url + paths[0]!, paths };
    }
    const seed = `servers ${Date.now()} ${at}`;
    return { ...job, url: `${url}/api/v2/attestations/${own[0]!}`, reports: { kind: "attestation", seed } };
  });
}

async function measureOnce(subject: Subject, { seconds }: Options): Promise<ServersFigure> {
  const { kind, spread, servers } = subject;
  const [first] = servers;
  if (first === undefined) throw new Error("There is no server");
  const used = async (): Promise<{ node: number; postgres: number }> => {
    const each = await Promise.all(servers.map(({ pid }) => cpuOfNode(pid)));
    return {
      node: each.reduce((sum, { node }) => sum + node, 0),
      postgres: await cpuOfPostgres(first.dataDir),
    };
  };
  const before = await used();
  const results = await Promise.all(jobsFor(subject, first.key, seconds).map(runLoad));
  const after = await used();
  const answered = results.reduce((sum, result) => sum + result.answered, 0);
  const failed = results.reduce((sum, result) => sum + result.failed, 0);
  if (failed > 0) throw new Error(`${kind} with ${servers.length} servers: ${failed} requests failed`);
  const node = ((after.node - before.node) * 1e6) / answered;
  const postgres = ((after.postgres - before.postgres) * 1e6) / answered;
  return {
    kind,
    spread,
    servers: servers.length,
    rate: results.reduce((sum, { throughput }) => sum + throughput, 0),
    node,
    postgres,
    modelled: Math.min((servers.length * 1e6) / node, (postgresProcessors * 1e6) / postgres),
  };
}

function middle(figures: ServersFigure[]): ServersFigure {
  const sorted = figures.sort((a, b) => a.node + a.postgres - (b.node + b.postgres));
  return sorted[(sorted.length - 1) / 2]!;
}

/** Measures all numbers of servers in turn, round by round, on the data of a folder. */
export async function measureServers(
  dataDir: string,
  options: Options,
): Promise<{ figures: ServersFigure[]; verdicts: Verdict[] }> {
  // More connections than the managed PostgreSQL has by itself would be refused.
  const env = { WAYBILL_DATABASE_POOL: "8" };
  const servers = [await startServer(dataDir, { env })];
  const connection = await findManagedPostgres(dataDir);
  if (connection === undefined) throw new Error("The server's database is not within reach");
  const { host, port, user, database } = connection;
  const url = `postgres://${user}@localhost/${database}?host=${encodeURIComponent(host)}&port=${port}`;
  while (servers.length < Math.max(...counts))
    servers.push(await startServer(dataDir, { env: { ...env, DATABASE_URL: url } }));
  const subjects = kinds.flatMap((kind) =>
    spreads.flatMap((spread) =>
      counts.map((count): Subject => ({ kind, spread, servers: servers.slice(0, count) })),
    ),
  );
  const measured = subjects.map((): ServersFigure[] => []);
  try {
    for (let round = 0; round < options.rounds; round += 1)
      for (const [at, subject] of subjects.entries()) measured[at]!.push(await measureOnce(subject, options));
  } finally {
    for (const server of servers.toReversed()) await server.stop();
  }
  const figures = measured.map(middle);
  return {
    figures,
    verdicts: kinds.flatMap((kind) => spreads.map((spread) => judge(figures, kind, spread))),
  };
}

function judge(figures: readonly ServersFigure[], kind: Kind, spread: Spread): Verdict {
  const [one, eight] = [1, 8].map(
    (count) => figures.find((f) => f.kind === kind && f.spread === spread && f.servers === count)!.modelled,
  );
  return atLeast(
    `${kind} of 8 servers, of one's, by the model, ${connections} connections ${spread}`,
    eight! / one!,
    5,
  );
}

/** Writes the figures as a table of Markdown. */
export function serversTable(figures: readonly ServersFigure[]): string {
  const heading = [
    "servers, connections",
    "/s, shared processors",
    "µs, servers",
    "µs, PostgreSQL",
    "/s by the model",
  ];
  const rows = figures.map(({ kind, spread, servers, ...numbers }) => [
    `${kind}, ${servers}, ${connections} ${spread}`,
    ...[numbers.rate, numbers.node, numbers.postgres, numbers.modelled].map((value) =>
      Math.round(value).toLocaleString("en"),
    ),
  ]);
  return markdownTable(heading, rows);
}
