import { createHash } from "node:crypto";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

import {
  type Answer,
  attackerAddress,
  type Body,
  Client,
  emptyTally,
  form,
  json,
  type Target,
} from "./client.ts";
import type { Scale } from "./scale.ts";

/** Makes a fingerprint from a text. */
export function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Lists the first numbers, from 0. */
export function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}

/** Runs `work` for each item, `atOnce` at a time. */
export async function each<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length) {
      const item = items[next]!;
      next += 1;
      await work(item);
    }
  };
  await Promise.all(numbers(Math.min(atOnce, items.length)).map(worker));
}

/** What a shape works with: the server, how much of everything, and the data that shapes share. */
export class Scene {
  readonly client: Client;
  readonly scale: Scale;
  readonly target: Target;
  /** Remarks for the table. */
  readonly notes: string[] = [];
  /** Violations such as lost writes and wrong verdicts: each breaks a promise. */
  readonly wrongs: string[] = [];
  readonly #sockets = new Set<Socket>();

  constructor(target: Target, scale: Scale) {
    this.target = target;
    this.scale = scale;
    this.client = new Client(target, emptyTally(), attackerAddress(target.url));
  }

  get org(): string {
    return this.target.org;
  }

  note(text: string): void {
    this.notes.push(text);
  }

  /** Records a violation. */
  wrong(text: string): void {
    this.wrongs.push(text);
  }

  /** Keeps a connection until the shape has ended. */
  hold(socket: Socket): Socket {
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    return socket;
  }

  /** How many of the kept connections the server has not closed yet. */
  get held(): number {
    return this.#sockets.size;
  }

  /** Closes all connections. */
  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.client.close();
  }

  /** Opens many bare connections, a hundred at a time. Those that are refused are counted and left out. */
  async openMany(count: number, address?: (index: number) => string | undefined): Promise<Socket[]> {
    const sockets: Socket[] = [];
    await each(numbers(count), 100, async (index) => {
      const socket = await this.client.open(address?.(index)).catch(() => undefined);
      if (socket !== undefined) sockets.push(this.hold(socket));
    });
    return sockets;
  }

  pause(ms = this.scale.holdMs): Promise<void> {
    return sleep(ms);
  }

  /** Runs `make` unless a path exists. */
  async #unless(path: string, make: () => Promise<unknown>): Promise<void> {
    const there = await this.client.ask("GET", path, { discard: true });
    if (there.status === 404) await make();
  }

  /** Stores a policy; the answer may be a refusal. */
  putPolicy(name: string, text: string): Promise<Answer> {
    const body = form({ payload: JSON.stringify({ name }) }, { policy_file: text });
    return this.client.ask("PUT", `/policies/${this.org}`, { body });
  }

  createEnvironment(name: string, policies: string[] = []): Promise<Answer> {
    const body = json({ name, type: "server", description: "", policies });
    return this.client.need("PUT", `/environments/${this.org}`, body);
  }

  /** Reports what runs in an environment; the answer may be a refusal. */
  report(environment: string, body: Body): Promise<Answer> {
    return this.client.ask("PUT", `/environments/${this.org}/${environment}/report/server`, { body });
  }

  /** Creates a flow with a template, unless it exists. */
  async flow(name: string, template: string): Promise<void> {
    const data = JSON.stringify({ name, description: "" });
    const body = form({ data_json: data }, { template_file: template });
    await this.#unless(`/flows/${this.org}/${name}`, () =>
      this.client.need("PUT", `/flows/${this.org}/template_file`, body),
    );
  }

  /** Reports an artifact of a flow on one of its trails. */
  artifact(flow: string, trail: string, fingerprint: string): Promise<Answer> {
    return this.client.need(
      "POST",
      `/artifacts/${this.org}/${flow}`,
      json({
        fingerprint,
        filename: `${flow}:${fingerprint.slice(0, 8)}`,
        build_url: "https://ci.example.com/7",
        commit_url: "https://git.example.com/c/1",
        git_commit: fingerprint.slice(0, 40),
        trail_name: trail,
        template_reference_name: "app",
      }),
    );
  }

  attest(
    flow: string,
    trail: string,
    kind: string,
    data: unknown,
    files: Record<string, Buffer> = {},
  ): Promise<Answer> {
    const body = form({ data_json: typeof data === "string" ? data : JSON.stringify(data) }, files);
    return this.client.ask("POST", `/attestations/${this.org}/${flow}/trail/${trail}/${kind}`, { body });
  }

  /**
   * Makes the environment that large answers are read from, with two snapshots, unless it exists.
   * @returns its name.
   */
  async largeEnvironment(): Promise<string> {
    const name = "large";
    const { artifacts, rules } = this.scale;
    await this.#unless(`/environments/${this.org}/${name}`, async () => {
      await this.putPolicy("honest", policyOf(rules));
      await this.createEnvironment(name, ["honest"]);
      for (const turn of [0, 1]) {
        const answer = await this.report(name, reportOf(artifacts, `large ${turn}`));
        if (answer.status >= 300)
          throw new Error(`The large report was answered ${answer.status}: ${answer.text}`);
      }
    });
    return name;
  }

  /** Makes a trail with many attestations and an artifact, unless it exists. */
  async largeTrail(): Promise<{ flow: string; trail: string; fingerprint: string }> {
    const place = { flow: "large-flow", trail: "large-trail", fingerprint: digest("on the large trail") };
    const { flow, trail, fingerprint } = place;
    await this.flow(flow, "version: 1\ntrail:\n  artifacts:\n    - name: app\n");
    await this.#unless(`/trails/${this.org}/${flow}/${trail}`, async () => {
      await this.artifact(flow, trail, fingerprint);
      await each(numbers(this.scale.attestations), 64, (index) =>
        this.attest(flow, trail, "generic", {
          attestation_name: `check-${index}`,
          is_compliant: index % 7 !== 0,
          artifact_fingerprint: index % 2 === 0 ? fingerprint : undefined,
          user_data: { place: index, words: "all is as it should be ".repeat(10) },
        }),
      );
    });
    return place;
  }

  /** Uploads a file of evidence, unless it exists. @returns the path to read it, below the API. */
  async largeFile(): Promise<string> {
    const [flow, trail, name] = ["files", "files", `file-${this.scale.fileBytes}`];
    await this.flow(flow, "version: 1\n");
    const list = `/attestations/${this.org}/${flow}/trail/${trail}/${name}`;
    const idOf = ({ text }: Answer): string | undefined =>
      (JSON.parse(text) as { attestation_id: string }[])[0]?.attestation_id;
    let shown = await this.client.ask("GET", list);
    if (shown.status !== 200 || idOf(shown) === undefined) {
      const bytes = Buffer.alloc(this.scale.fileBytes, "evidence ");
      const data = { attestation_name: name, is_compliant: true };
      const stored = await this.attest(flow, trail, "generic", data, { attachment_file: bytes });
      if (stored.status !== 201) throw new Error(`A file was answered ${stored.status}: ${stored.text}`);
      shown = await this.client.need("GET", list);
    }
    return `/attestations/${this.org}/${flow}/trail/${trail}/attestation/${idOf(shown)!}/evidence`;
  }
}

/** A kind of attack, and what is promised about it. */
export interface Shape {
  name: string;
  /** What it does, in words. */
  what: string;
  /** Megabytes that Node may take in addition, where that is promised. */
  peakLimit?: number;
  /** Milliseconds that others may wait, where more is allowed than for all shapes. */
  waitLimit?: number;
  /** Whether to leave it out of the short form. */
  long?: boolean;
  /** What the server has to be told for it. Not tried with servers that run already. */
  settings?: Record<string, string>;
  /** Prepares what the attack needs, unobserved. @returns the attack itself, which is observed. */
  prepare(scene: Scene): Promise<() => Promise<void>>;
}

const policyHead = "_schema: https://waybill.test/schemas/policy/v1\nartifacts:\n";

/** Writes a policy with so many rules, as people write them. */
export function policyOf(rules: number, salt = ""): string {
  const lines = numbers(rules).map(
    (index) => `    - {type: generic, name: check-${index}${salt}, if: "flow.tags.team == 'team-${index}'"}`,
  );
  return `${policyHead}  provenance: {required: true}\n  attestations:\n${lines.join("\n")}\n`;
}

/** Writes a policy with this YAML under `attestations`. */
export function policyOfText(attestations: string): string {
  return `${policyHead}  attestations: ${attestations}\n`;
}

/** Makes a report of so many artifacts: other ones with other salt. */
export function reportOf(artifacts: number, salt: string): Body {
  const items = numbers(artifacts).map((index) => ({
    digests: {
      [`registry.example.com/team-${index % 40}/app-${index}:1.${index}`]: digest(`${salt} ${index}`),
    },
    creationTimestamp: 1_780_000_000,
  }));
  return json({ artifacts: items });
}
