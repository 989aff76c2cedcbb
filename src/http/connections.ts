import type { Server } from "node:http";
import type { Socket } from "node:net";
import { Server as TlsServer } from "node:tls";

import type { FastifyInstance } from "fastify";

import type { IntakeLimits } from "../config-limits.ts";
import { openFilesLimit } from "../lib/open-files.ts";
import { isLoopbackAddress, networkOf } from "../lib/network.ts";
import type { ProxyTrust } from "./client-address.ts";
import type { IntakeMetrics, RefusedConnection } from "./intake-metrics.ts";
import { limitPipelining } from "./pipelining.ts";
import { rawAnswer } from "./raw-answers.ts";

/** Connections at most where nothing was said, and descriptors allow it. */
const standardConnections = 4096;

/** Descriptors left to the database, evidence, threads and the program itself; of few, half. */
const otherDescriptors = 256;

/** Past the limit so many more are told why; those beyond are closed without a word. */
const toldConnections = 64;

/** How long who is told why may take to read it. */
const tellMs = 1_000;

/** Says how many connections there may be: what was set, or what the descriptors of this process leave. */
export function connectionLimit(set: number | undefined, openFiles: number | undefined): number {
  if (openFiles === undefined) return set ?? standardConnections;
  const left = openFiles - toldConnections - Math.min(otherDescriptors, Math.floor(openFiles / 2));
  return Math.max(8, Math.min(set ?? standardConnections, left));
}

interface ConnectionLimits {
  all: number;
  perAddress: number | undefined;
  /** Who stands for many others. */
  trust: ProxyTrust;
}

/** Limits that may change while the server runs, and whom it trusts. */
interface Rules {
  limits: IntakeLimits;
  trust: ProxyTrust;
}

/** Counts connections, in all and by address. */
export class Connections {
  readonly #byAddress = new Map<string, number>();
  readonly #limits: Readonly<ConnectionLimits>;
  count = 0;

  constructor(limits: Readonly<ConnectionLimits>) {
    this.#limits = limits;
  }

  /** Counts a connection. @returns what there is too much of already, if there is. */
  add(address: string): "all" | "address" | undefined {
    const network = networkOf(address);
    const own = (this.#byAddress.get(network) ?? 0) + 1;
    this.count += 1;
    this.#byAddress.set(network, own);
    if (this.count > this.#limits.all) return "all";
    const { perAddress, trust } = this.#limits;
    if (perAddress === undefined || own <= perAddress) return undefined;
    // Programs of this machine share one address, and so do all who come through a proxy.
    return isLoopbackAddress(address) || trust(address, 0) ? undefined : "address";
  }

  remove(address: string): void {
    const network = networkOf(address);
    const left = (this.#byAddress.get(network) ?? 1) - 1;
    this.count -= 1;
    if (left > 0) this.#byAddress.set(network, left);
    else this.#byAddress.delete(network);
  }
}

const refusalTexts: Record<"all" | "address", string> = {
  all: "The server has too many connections, try again",
  address: "There are too many connections from this address, try again",
};

function refuse(socket: Socket, why: "all" | "address"): void {
  socket.on("error", () => {}).resume();
  socket.end(rawAnswer(503, refusalTexts[why]));
  setTimeout(() => socket.destroy(), tellMs).unref();
}

/** Keeps connections within limits, from before the HTTP server sees them. */
function limitConnections(server: Server, { limits, trust }: Rules, metrics: IntakeMetrics): void {
  const all = connectionLimit(limits.connections, openFilesLimit());
  const connections = new Connections({
    all,
    get perAddress() {
      return limits.connectionsPerAddress;
    },
    trust,
  });
  const refused = (reason: RefusedConnection): void => metrics.refusedConnections.inc({ reason });
  metrics.showConnections(() => connections.count);
  server.maxConnections = all + toldConnections;
  server.on("drop", () => refused("all"));
  const serve = server.listeners("connection");
  server.removeAllListeners("connection");
  server.on("connection", (socket: Socket) => {
    const address = socket.remoteAddress ?? "";
    const why = connections.add(address);
    socket.once("close", () => connections.remove(address));
    if (why === undefined) for (const listener of serve) listener.call(server, socket);
    else {
      refused(why);
      // There is nobody yet to tell over TLS.
      if (server instanceof TlsServer) socket.destroy();
      else refuse(socket, why);
    }
  });
}

/** Limits connections, and what is under way on each. */
export function registerConnectionLimits(app: FastifyInstance, rules: Rules, metrics: IntakeMetrics): void {
  limitConnections(app.server, rules, metrics);
  limitPipelining(app, rules.limits.pipelined, metrics);
}
