import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";

const holder = join(import.meta.dirname, "socket-holder.mjs");

/** Servers that follow one another on a socket that stays, as under a service manager. */
export class Succession {
  readonly child: ChildProcess;
  readonly ended: Promise<unknown>;
  readonly #lines: Record<string, unknown>[] = [];

  /** @param command what runs each server, without `serve`. @param servers how many follow one another. */
  constructor(dataDir: string, servers: number, command: readonly string[]) {
    const environment = {
      ...process.env,
      WAYBILL_DATA_DIR: dataDir,
      WAYBILL_WEB: "0",
      WAYBILL_RATE_LIMIT_PER_KEY: "0",
      WAYBILL_RATE_LIMIT_PER_ADDRESS: "0",
    };
    this.child = spawn(process.execPath, [holder, String(servers), ...command, "serve"], {
      env: environment,
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.ended = once(this.child, "exit");
    createInterface({ input: this.child.stdout! }).on("line", (line) => {
      if (line.startsWith("{")) this.#lines.push(JSON.parse(line) as Record<string, unknown>);
    });
  }

  /** Waits until the socket is held. @returns its port. */
  async port(): Promise<number> {
    return (await this.#nth<{ held: number }>("held", 1)).held;
  }

  /** Waits for the n-th server to be ready, counted from 1. @returns its process. */
  async ready(count: number): Promise<number> {
    return (await this.#nth<{ pid: number }>("public_url", count)).pid;
  }

  /** Waits for the n-th server to end. @returns its exit status. */
  async endOf(count: number): Promise<number> {
    return (await this.#nth<{ ended: number }>("ended", count)).ended;
  }

  /** Ends what a failed test left running. */
  endAll(): void {
    if (this.#hasEnded) return;
    this.child.kill("SIGKILL");
    const pid = this.#lines.findLast((line) => "pid" in line)?.["pid"];
    if (typeof pid === "number") process.kill(pid, "SIGKILL");
  }

  /** Errors of all servers. */
  get complaints(): unknown[] {
    return this.#lines.filter(({ level }) => Number(level) >= 50).map(({ msg }) => msg);
  }

  /** Waits for what is told for the n-th time. */
  async #nth<T>(name: string, count: number): Promise<T> {
    const deadline = Date.now() + 120_000;
    for (;;) {
      const told = this.#lines.filter((line) => name in line)[count - 1];
      if (told !== undefined) return told as T;
      if (Date.now() > deadline || this.#hasEnded) throw new Error(`never told: ${name}`);
      await delay(10);
    }
  }

  get #hasEnded(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }
}
