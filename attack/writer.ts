import { setTimeout as sleep } from "node:timers/promises";

import { type Answer, Client, emptyTally, form, json, type Tally, type Target } from "./client.ts";
import { digest, each, numbers, reportOf } from "./scene.ts";

/** What became of acknowledged writes. */
export interface Kept {
  acknowledged: number;
  /** Names of those that are missing. */
  lost: string[];
  /** Names of those with other content. */
  changed: string[];
}

const flow = "written";

/** Writes JSON that a JavaScript program would not give back to the letter. */
function exactText(name: string): string {
  return `{"z":"${name}","big":9007199254740993,"huge":1e400,"one":1.0,"a":[0.10,-0.0]}`;
}

/** Removes the blanks between the parts of a JSON text. */
function compact(text: string): string {
  return text.replaceAll(/("(?:[^"\\]|\\.)*")|\s+/g, (_all, quoted: string | undefined) => quoted ?? "");
}

/** A kind of record that a pipeline writes, and how to find it again. */
interface Kind {
  send(client: Client, org: string, trail: string, name: string): Promise<Answer>;
  /** Gives the path to read it. */
  path(org: string, trail: string, name: string): string;
  /** Gives what the answer has to contain, to the letter except blanks. */
  content(name: string): string;
}

const artifact: Kind = {
  send: (client, org, trail, name) =>
    client.ask("POST", `/artifacts/${org}/${flow}`, {
      body: json({
        fingerprint: digest(name),
        filename: `written:${name}`,
        build_url: "https://ci.example.com/7",
        commit_url: "https://git.example.com/c/1",
        git_commit: digest(name).slice(0, 40),
        repo_info: { id: "42", name: "acme/written", url: "https://git.example.com/w", provider: "github" },
        trail_name: trail,
        template_reference_name: "app",
      }),
    }),
  path: (org, _trail, name) => `/artifacts/${org}/${flow}/fingerprint/${digest(name)}`,
  content: (name) => `"filename":"written:${name}"`,
};

const attestation: Kind = {
  send: (client, org, trail, name) =>
    client.ask("POST", `/attestations/${org}/${flow}/trail/${trail}/generic`, {
      body: form({
        data_json: `{"attestation_name":"${name}","is_compliant":true,"artifact_fingerprint":"${digest(name)}","user_data":${exactText(name)}}`,
      }),
    }),
  path: (org, _trail, name) => `/attestations/${org}/${flow}/artifact/${digest(name)}/${name}`,
  content: (name) => `"user_data":${exactText(name)}`,
};

const environment: Kind = {
  send: (client, org, _trail, name) =>
    client.ask("PUT", `/environments/${org}`, {
      body: json({ name, type: "server", description: `for ${name}` }),
    }),
  path: (org, _trail, name) => `/environments/${org}/${name}`,
  content: (name) => `"description":"for ${name}"`,
};

const snapshot: Kind = {
  send: (client, org, _trail, name) =>
    client.ask("PUT", `/environments/${org}/${name}/report/server`, { body: reportOf(2, name) }),
  path: (org, _trail, name) => `/snapshots/${org}/${name}/1`,
  content: (name) => `"${digest(`${name} 1`)}"`,
};

/** Kinds that a pipeline writes during an attack. */
const lightKinds: readonly Kind[] = [artifact, attestation];
/** All kinds, which include everything that is numbered or judged. */
export const allKinds: readonly Kind[] = [artifact, attestation, environment, snapshot];

/** A pipeline that writes small records, remembers which were acknowledged, and checks that they are still there. */
export class Writer {
  #client: Client;
  readonly #label: string;
  readonly #kinds: readonly Kind[];
  readonly #acknowledged: { kind: Kind; name: string }[] = [];
  readonly tally: Tally = emptyTally();
  #begun = 0;
  #isOver = true;
  #busy: Promise<unknown> = Promise.resolve();

  constructor(target: Target, label: string, kinds = lightKinds) {
    this.#client = new Client(target, this.tally);
    this.#label = label;
    this.#kinds = kinds;
  }

  /** How many writes were acknowledged. */
  get acknowledged(): number {
    return this.#acknowledged.length;
  }

  get #org(): string {
    return this.#client.target.quietOrg;
  }

  /** Continues with the same server at another address. */
  move(url: string): void {
    this.#client.close();
    this.#client = new Client({ ...this.#client.target, url }, this.tally);
  }

  /** Begins to write, `atOnce` at a time, with a pause after each. */
  start({ pauseMs = 200, atOnce = 1 } = {}): void {
    this.#isOver = false;
    const write = async (): Promise<void> => {
      while (!this.#isOver) {
        this.#begun += 1;
        await this.writeOne(`${this.#label}-${this.#begun}`);
        await sleep(pauseMs);
      }
    };
    this.#busy = Promise.all(numbers(atOnce).map(write));
  }

  /** Stops writing; resolves when the last write has been answered. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#busy;
  }

  /** Writes one record of each kind. @returns whether all were acknowledged. */
  async writeOne(name: string): Promise<boolean> {
    for (const kind of this.#kinds) {
      // Nothing is acknowledged when the connection breaks.
      const answer = await kind.send(this.#client, this.#org, this.#label, name).catch(() => undefined);
      if (answer?.status !== 200 && answer?.status !== 201) return false;
      this.#acknowledged.push({ kind, name });
    }
    return true;
  }

  /** Waits until so many more writes have been acknowledged, or patience ends. */
  async untilMore(count: number, patienceMs = 30_000): Promise<void> {
    const [wanted, end] = [this.acknowledged + count, performance.now() + patienceMs];
    while (this.acknowledged < wanted && performance.now() < end) await sleep(5);
  }

  /** Waits until writes are acknowledged again. @returns how long that took, in milliseconds. */
  async untilWritten(patienceMs = 60_000): Promise<number> {
    const begun = performance.now();
    while (performance.now() - begun < patienceMs) {
      this.#begun += 1;
      if (await this.writeOne(`${this.#label}-${this.#begun}`)) return performance.now() - begun;
      await sleep(20);
    }
    throw new Error(`Nothing could be written for ${patienceMs / 1000} s`);
  }

  /** Reads back everything that was acknowledged. */
  async check(): Promise<Kept> {
    const kept: Kept = { acknowledged: this.#acknowledged.length, lost: [], changed: [] };
    await each(this.#acknowledged, 8, async ({ kind, name }) => {
      const found = await this.#client.ask("GET", kind.path(this.#org, this.#label, name));
      if (found.status !== 200 || !found.text.includes(name)) kept.lost.push(name);
      else if (!compact(found.text).includes(kind.content(name))) kept.changed.push(name);
    });
    return kept;
  }

  close(): void {
    this.#client.close();
  }
}
