import { Agent, request } from "node:http";
import { setTimeout as delay } from "node:timers/promises";

/** Where a load goes. */
export interface LoadTarget {
  port: number;
  key: string;
  org: string;
}

/**
 * No more are asked while so many wait for an answer, which is ten seconds of 200 a second: past its limit of connections a server refuses them, as it
 * should, and that is not what a restart is tried for.
 */
const mostUnderWay = 2_000;

/** Asks at a steady pace, whatever became of earlier questions, half of them on connections that are kept. Every tenth writes. */
export class SteadyLoad {
  /** How many answers had each status, and how many questions each kind of error. */
  readonly statuses: Record<string, number> = {};
  /** Names of environments that were acknowledged. */
  readonly written: string[] = [];
  /** The longest wait since it was last set to 0, in milliseconds. */
  longest = 0;
  readonly #agent = new Agent({ keepAlive: true, maxFreeSockets: 32 });
  readonly #underWay = new Set<Promise<void>>();
  readonly #target: LoadTarget;
  readonly #perSecond: number;
  #isStopped = false;

  constructor(target: LoadTarget, perSecond: number) {
    this.#target = target;
    this.#perSecond = perSecond;
  }

  /** Asks until it is stopped. Resolves when all is answered. */
  async run(): Promise<void> {
    let begun = performance.now();
    for (let count = 0; !this.#isStopped; count += 1) {
      const due = begun + (count * 1000) / this.#perSecond;
      const early = due - performance.now();
      if (early > 0) await delay(early);
      if (this.#underWay.size >= mostUnderWay) {
        const full = performance.now();
        await Promise.race(this.#underWay);
        begun += performance.now() - full;
      }
      const asked = this.#ask(count, performance.now() + Math.min(0, early));
      this.#underWay.add(asked);
      void asked.finally(() => this.#underWay.delete(asked));
    }
    await Promise.all(this.#underWay);
    this.#agent.destroy();
  }

  /** Waits until everything is answered that was asked so far. */
  async answered(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  stop(): void {
    this.#isStopped = true;
  }

  /** Lists what was acknowledged and is not there. */
  async lost(): Promise<string[]> {
    const { port, key, org } = this.#target;
    const headers = { authorization: `Bearer ${key}` };
    const answer = await fetch(`http://127.0.0.1:${port}/api/v2/environments/${org}`, { headers });
    const names = new Set(((await answer.json()) as { name: string }[]).map(({ name }) => name));
    return this.written.filter((name) => !names.has(name));
  }

  /** Asks one question. @param since when it was due. */
  async #ask(count: number, since: number): Promise<void> {
    const { org } = this.#target;
    const isWrite = count % 10 === 0;
    const name = `written-${count}`;
    const outcome = await (isWrite
      ? this.#send("PUT", `/environments/${org}`, count, { name, type: "server", description: "" })
      : this.#send("GET", `/environments/${org}?per_page=5`, count));
    this.longest = Math.max(this.longest, performance.now() - since);
    this.statuses[outcome] = (this.statuses[outcome] ?? 0) + 1;
    if (isWrite && outcome === "201") this.written.push(name);
  }

  /** Sends a request. @returns the status, or the kind of error. */
  #send(method: string, path: string, count: number, body?: unknown): Promise<string> {
    const { port, key } = this.#target;
    return new Promise((resolve) => {
      const sent = request(
        {
          port,
          host: "127.0.0.1",
          method,
          path: `/api/v2${path}`,
          agent: count % 4 < 2 ? this.#agent : false,
          headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
          timeout: 60_000,
        },
        (answer) => {
          answer.resume();
          answer.once("end", () => resolve(String(answer.statusCode)));
          answer.once("error", (error) => resolve(`answer: ${error.message}`));
        },
      );
      sent.once("timeout", () => sent.destroy(new Error("no answer in a minute")));
      sent.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
      sent.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }
}

/** Finds the default organization of a key. */
export async function organizationOf(port: number, key: string): Promise<string> {
  const headers = { authorization: `Bearer ${key}` };
  const answer = await fetch(`http://127.0.0.1:${port}/api/v2/user/default-org`, { headers });
  return ((await answer.json()) as { default_org_name: string }).default_org_name;
}
