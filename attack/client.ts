import { Agent, type IncomingHttpHeaders, request } from "node:http";
import { connect, type Socket } from "node:net";

/** The running server that is attacked. */
export interface Target {
  url: string;
  /** Key of an administrator of the organization. */
  key: string;
  /** Name of the organization that is attacked. */
  org: string;
  /** Name of the organization of other callers, who must not notice the attack. */
  quietOrg: string;
}

/** Counts of what came back to a client. */
export interface Tally {
  /** How many answers had each status. */
  statuses: Record<string, number>;
  /** Answers that nobody may get, with what was asked: 5xx except 503 with `Retry-After`. */
  faults: string[];
  /** Connections that broke before an answer, by the kind of error. */
  broken: Record<string, number>;
}

/** Makes a tally of nothing. */
export function emptyTally(): Tally {
  return { statuses: {}, faults: [], broken: {} };
}

const mostFaults = 20;

/** Says whether no caller may get this status: any 5xx, except 503 with `Retry-After`. */
export function isFault(status: number, retryAfter: string | undefined): boolean {
  return status >= 500 && !(status === 503 && retryAfter !== undefined);
}

/** Counts an answer. */
function countAnswer(tally: Tally, status: number, retryAfter: string | undefined, what: string): void {
  tally.statuses[status] = (tally.statuses[status] ?? 0) + 1;
  if (isFault(status, retryAfter) && tally.faults.length < mostFaults) tally.faults.push(`${status} ${what}`);
}

/** Bytes of the longest head of an answer. */
const longestHead = 16_384;

/**
 * Counts the answers on a bare connection, which may come in pieces.
 * @returns how many had each status, as they come.
 */
export function countStatuses(tally: Tally, socket: Socket, what: string): Record<number, number> {
  const seen: Record<number, number> = {};
  let rest = "";
  socket.on("data", (bytes: Buffer) => {
    const text = rest + bytes.toString("latin1");
    const end = text.lastIndexOf("\r\n\r\n");
    rest = text.slice(Math.max(0, end, text.length - longestHead));
    if (end < 0) return;
    for (const [head, code] of text.slice(0, end + 2).matchAll(/HTTP\/1\.1 (\d{3}) (?:[^\r\n]+\r\n)+/g)) {
      const status = Number(code);
      seen[status] = (seen[status] ?? 0) + 1;
      countAnswer(tally, status, /^retry-after: *(\S+)/im.exec(head)?.[1], what);
    }
  });
  return seen;
}

/** Counts a connection that broke. */
function countBroken(tally: Tally, error: unknown): void {
  const kind = (error as NodeJS.ErrnoException).code ?? (error as Error).name;
  tally.broken[kind] = (tally.broken[kind] ?? 0) + 1;
}

/** A body and its media type. */
export interface Body {
  type: string;
  bytes: Buffer | string;
}

/** Makes a JSON body, from a value or from JSON text. */
export function json(value: unknown): Body {
  return { type: "application/json", bytes: typeof value === "string" ? value : JSON.stringify(value) };
}

const boundary = "waybill-attack-4c1d";

/** Makes a form as clients send it, of text fields and files. */
export function form(fields: Record<string, string>, files: Record<string, string | Buffer> = {}): Body {
  const part = (disposition: string, content: string | Buffer): Buffer[] => [
    Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; ${disposition}\r\n\r\n`),
    Buffer.from(content),
    Buffer.from("\r\n"),
  ];
  const pieces = [
    ...Object.entries(fields).flatMap(([name, text]) => part(`name="${name}"`, text)),
    ...Object.entries(files).flatMap(([name, content]) =>
      part(`name="${name}"; filename="${name}.txt"`, content),
    ),
    Buffer.from(`--${boundary}--\r\n`),
  ];
  return { type: `multipart/form-data; boundary=${boundary}`, bytes: Buffer.concat(pieces) };
}

/** An answer, read to its end. */
export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  /** Empty where the answer was only counted. */
  text: string;
  bytes: number;
}

/** Options of a request. */
export interface Asking {
  body?: Body;
  /** Sends no key. */
  anonymous?: boolean;
  /** Counts the bytes of the answer and forgets them. */
  discard?: boolean;
  timeoutMs?: number;
}

/** A client that counts what comes back. Its connections come from one address, where this machine has several. */
export class Client {
  readonly target: Target;
  readonly tally: Tally;
  readonly #from: string | undefined;
  readonly #agent: Agent;

  constructor(target: Target, tally: Tally, from?: string) {
    this.target = target;
    this.tally = tally;
    this.#from = from;
    this.#agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  }

  /**
   * Sends a request and gives its answer, whatever the status.
   * @throws when the connection breaks, or for an answer that does not end in time.
   */
  async ask(method: string, path: string, asking: Asking = {}): Promise<Answer> {
    try {
      const answer = await this.#ask(method, path, asking);
      countAnswer(this.tally, answer.status, answer.headers["retry-after"], `${method} ${path}`);
      return answer;
    } catch (error) {
      countBroken(this.tally, error);
      throw error;
    }
  }

  /** Sends a request and counts its outcome, whatever it is. @returns undefined when the connection broke. */
  async poke(method: string, path: string, asking: Asking = {}): Promise<Answer | undefined> {
    return this.ask(method, path, { discard: true, ...asking }).catch(() => undefined);
  }

  /** Sends a request that has to succeed. @throws for any answer but success. */
  async need(method: string, path: string, body?: Body): Promise<Answer> {
    const answer = await this.ask(method, path, body === undefined ? {} : { body });
    if (answer.status >= 300)
      throw new Error(`${method} ${path} was answered ${answer.status}: ${answer.text.slice(0, 300)}`);
    return answer;
  }

  #ask(method: string, path: string, asking: Asking): Promise<Answer> {
    const { body, anonymous = false, discard = false, timeoutMs = 240_000 } = asking;
    return new Promise((resolve, reject) => {
      const sent = request(
        `${this.target.url}/api/v2${path}`,
        {
          method,
          agent: this.#agent,
          headers: {
            ...(anonymous ? {} : { authorization: `Bearer ${this.target.key}` }),
            ...(body === undefined
              ? {}
              : { "content-type": body.type, "content-length": Buffer.byteLength(body.bytes) }),
          },
          signal: AbortSignal.timeout(timeoutMs),
          ...(this.#from === undefined ? {} : { localAddress: this.#from }),
        },
        (answer) => {
          const pieces: Buffer[] = [];
          let bytes = 0;
          answer.on("data", (piece: Buffer) => {
            bytes += piece.length;
            if (!discard) pieces.push(piece);
          });
          answer.once("error", reject);
          answer.once("end", () =>
            resolve({
              status: answer.statusCode ?? 0,
              headers: answer.headers,
              text: Buffer.concat(pieces).toString("utf8"),
              bytes,
            }),
          );
        },
      );
      sent.once("error", reject);
      sent.end(body?.bytes);
    });
  }

  /** Opens a bare connection, from `address` if it is given. Its errors are only counted. */
  open(address = this.#from): Promise<Socket> {
    const { hostname, port } = new URL(this.target.url);
    return new Promise((resolve, reject) => {
      const socket = connect({
        host: hostname,
        port: Number(port || 80),
        ...(address === undefined ? {} : { localAddress: address }),
      });
      socket.once("connect", () => resolve(socket));
      socket.once("error", reject);
      socket.on("error", (error) => countBroken(this.tally, error));
    });
  }

  /** Writes the head of a request, for bare connections. */
  head(method: string, path: string, more: Record<string, string | number> = {}): string {
    const lines = Object.entries({
      host: new URL(this.target.url).host,
      authorization: `Bearer ${this.target.key}`,
      ...more,
    }).map(([name, value]) => `${name}: ${value}\r\n`);
    return `${method} /api/v2${path} HTTP/1.1\r\n${lines.join("")}\r\n`;
  }

  /** Closes the connections that are kept. */
  close(): void {
    this.#agent.destroy();
  }
}

/** Gives the address that attacks come from: another than the probe's, on machines that own all of 127.0.0.0/8. */
export function attackerAddress(url: string, last = 66): string | undefined {
  return process.platform === "linux" && new URL(url).hostname.startsWith("127.")
    ? `127.0.0.${last}`
    : undefined;
}
