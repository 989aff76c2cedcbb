import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";

/** How a balancer finds out who is ready: a readiness probe of Kubernetes, in milliseconds. */
export interface Probe {
  path: string;
  periodMs: number;
  timeoutMs: number;
  /** So many refusals in a row make a backend not ready. One that answers once is. */
  failureThreshold: number;
}

interface Backend {
  url: string;
  isReady: boolean;
  failures: number;
  timer: NodeJS.Timeout;
}

/**
 * Passes connections on to whoever was ready when last asked, in turn, as a Service of Kubernetes does: what is open stays where it is. It hears of
 * a backend that ends by its probe alone.
 */
export class Balancer {
  readonly #server: Server;
  readonly #probe: Probe;
  readonly #backends = new Map<string, Backend>();
  readonly #sockets = new Set<Socket>();
  #turn = 0;

  private constructor(server: Server, probe: Probe) {
    this.#server = server;
    this.#probe = probe;
    server.on("connection", (client) => this.#passOn(client));
  }

  static async start(probe: Probe): Promise<Balancer> {
    const server = createServer().listen({ port: 0, host: "127.0.0.1", backlog: 4096 });
    await once(server, "listening");
    return new Balancer(server, probe);
  }

  get port(): number {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("no port");
    return address.port;
  }

  /** Begins to ask a backend whether it is ready. */
  add(url: string): void {
    const timer = setInterval(() => void this.#ask(url), this.#probe.periodMs);
    this.#backends.set(url, { url, isReady: false, failures: 0, timer });
  }

  /** Forgets a backend that is gone. */
  remove(url: string): void {
    clearInterval(this.#backends.get(url)?.timer);
    this.#backends.delete(url);
  }

  isReady(url: string): boolean {
    return this.#backends.get(url)?.isReady === true;
  }

  stop(): void {
    for (const url of this.#backends.keys()) this.remove(url);
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  async #ask(url: string): Promise<void> {
    const { path, timeoutMs, failureThreshold } = this.#probe;
    const isOk = await fetch(`${url}${path}`, { signal: AbortSignal.timeout(timeoutMs) }).then(
      async (answer) => {
        await answer.arrayBuffer();
        return answer.ok;
      },
      () => false,
    );
    const backend = this.#backends.get(url);
    if (backend === undefined) return;
    backend.failures = isOk ? 0 : backend.failures + 1;
    if (isOk) backend.isReady = true;
    else if (backend.failures >= failureThreshold) backend.isReady = false;
  }

  #passOn(client: Socket): void {
    const ready = [...this.#backends.values()].filter(({ isReady }) => isReady);
    const backend = ready[this.#turn++ % ready.length];
    this.#keep(client);
    if (backend === undefined) {
      client.destroy();
      return;
    }
    const { hostname, port } = new URL(backend.url);
    const server = connect(Number(port), hostname);
    this.#keep(server);
    client.pipe(server).pipe(client);
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      one.on("error", () => other.resetAndDestroy());
      one.once("close", () => other.destroySoon());
    }
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
  }
}
