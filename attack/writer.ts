import { setTimeout as sleep } from "node:timers/promises";

import { Client, emptyTally, form, json, type Tally, type Target } from "./client.ts";
import { digest, each } from "./scene.ts";

/** What became of the writes that the server acknowledged. */
export interface Kept {
  acknowledged: number;
  /** Those that are not there, by name. */
  lost: string[];
  /** Those that are there with other content. */
  changed: string[];
}

const flow = "written";

/** Text that readers which take JSON to be JavaScript give back as another one. */
function exactText(name: string): string {
  return `{"z":"${name}","big":9007199254740993,"huge":1e400,"one":1.0,"a":[0.10,-0.0]}`;
}

/** A text of JSON without blanks between its parts. */
function compact(text: string): string {
  return text.replaceAll(/("(?:[^"\\]|\\.)*")|\s+/g, (_all, quoted: string | undefined) => quoted ?? "");
}

/** An honest pipeline: writes small things one after the other, remembers what was acknowledged, and looks for it again. */
export class Writer {
  readonly #client: Client;
  readonly #names: string[] = [];
  readonly #label: string;
  readonly tally: Tally = emptyTally();
  #isOver = false;
  #busy: Promise<void> = Promise.resolve();

  constructor(target: Target, label: string) {
    this.#client = new Client({ ...target, org: target.quietOrg }, this.tally);
    this.#label = label;
  }

  get #org(): string {
    return this.#client.target.org;
  }

  /** Begins to write, every so many milliseconds at most. */
  start(pauseMs = 200): void {
    const write = async (): Promise<void> => {
      for (let number = 0; !this.#isOver; number += 1) {
        await this.#write(`${this.#label}-${number}`);
        await sleep(pauseMs);
      }
    };
    this.#busy = write();
  }

  /** Stops writing; resolves when the last write has been answered. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#busy;
  }

  async #write(name: string): Promise<void> {
    const artifact = json({
      fingerprint: digest(name),
      filename: `written:${name}`,
      build_url: "https://ci.example.com/7",
      commit_url: "https://git.example.com/c/1",
      git_commit: digest(name).slice(0, 40),
      trail_name: this.#label,
      template_reference_name: "app",
    });
    const data = `{"attestation_name":"${name}","is_compliant":true,"artifact_fingerprint":"${digest(name)}","user_data":${exactText(name)}}`;
    const path = `/attestations/${this.#org}/${flow}/trail/${this.#label}/generic`;
    try {
      const reported = await this.#client.ask("POST", `/artifacts/${this.#org}/${flow}`, { body: artifact });
      if (reported.status !== 201) return;
      const attested = await this.#client.ask("POST", path, { body: form({ data_json: data }) });
      if (attested.status === 201) this.#names.push(name);
    } catch {
      // Nothing was acknowledged.
    }
  }

  /** Reads everything back that was acknowledged. */
  async check(): Promise<Kept> {
    const kept: Kept = { acknowledged: this.#names.length, lost: [], changed: [] };
    await each(this.#names, 8, async (name) => {
      const found = await this.#client.ask(
        "GET",
        `/artifacts/${this.#org}/${flow}/fingerprint/${digest(name)}`,
      );
      const list = `/attestations/${this.#org}/${flow}/artifact/${digest(name)}/${name}`;
      const attested = await this.#client.ask("GET", list);
      if (found.status !== 200 || attested.status !== 200 || !attested.text.includes(name))
        kept.lost.push(name);
      else if (!compact(attested.text).includes(`"user_data":${exactText(name)}`)) kept.changed.push(name);
    });
    return kept;
  }

  close(): void {
    this.#client.close();
  }
}
