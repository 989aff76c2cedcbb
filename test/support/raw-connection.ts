import { connect, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

/** What a server sent on a connection: the first answer taken apart, and all of it as text. */
export interface RawAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
  text: string;
}

function parsed(text: string): RawAnswer {
  const [head = "", body = ""] = text.split("\r\n\r\n", 2);
  const [first = "", ...lines] = head.split("\r\n");
  const headers = lines.map((line) => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
  });
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(first)?.[1] ?? Number.NaN);
  return { status, headers: Object.fromEntries(headers), body, text };
}

/** A client that sends what it likes, when it likes. */
export class RawConnection {
  readonly socket: Socket;
  readonly closed: Promise<void>;
  #received = "";

  constructor(port: number, first?: string | Buffer) {
    this.socket = connect(port, "127.0.0.1");
    if (first !== undefined && first !== "") this.socket.write(first);
    this.socket.setEncoding("latin1").on("data", (chunk: string) => {
      this.#received += chunk;
    });
    this.closed = new Promise((resolve) => {
      this.socket.on("error", () => {}).on("close", () => resolve());
    });
  }

  write(bytes: string | Buffer): void {
    this.socket.write(bytes);
  }

  /** Everything that came so far. */
  get received(): string {
    return this.#received;
  }

  /** Waits for the head of an answer. */
  async answer(patienceMs = 20_000): Promise<RawAnswer> {
    const deadline = Date.now() + patienceMs;
    while (!this.#received.includes("\r\n\r\n")) {
      if (Date.now() > deadline || this.socket.destroyed)
        throw new Error(`no answer: '${this.#received.slice(0, 200)}'`);
      await delay(5);
    }
    // The body comes in the same piece nearly always, and in the next one otherwise.
    await delay(10);
    return parsed(this.#received);
  }

  /** Waits until the server has closed, and answers all that came. */
  async end(): Promise<RawAnswer> {
    await this.closed;
    return parsed(this.#received);
  }

  destroy(): void {
    this.socket.destroy();
  }
}

/** The head of a request with a body of so many bytes. */
export function head(
  method: string,
  path: string,
  length: number | "chunked",
  headers: Record<string, string> = {},
): string {
  const size = length === "chunked" ? "Transfer-Encoding: chunked" : `Content-Length: ${length}`;
  const lines = Object.entries({ "Content-Type": "application/json", ...headers }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  return [`${method} /api/v2${path} HTTP/1.1`, "Host: x", size, ...lines, "", ""].join("\r\n");
}
