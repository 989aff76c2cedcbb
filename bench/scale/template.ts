import { createHash } from "node:crypto";

/** One repetition of the reported rows: which one, and where in time it lies. */
export interface Epoch {
  /** From 0. */
  number: number;
  /** When its first row is, in microseconds since 1970. */
  start: number;
  /** How many times as long as the reported rows it takes; at least 1, so that ids of two milliseconds stay apart. */
  stretch: number;
}

/** What of the reported rows has to be another in each epoch. */
export interface Seed {
  /** When reporting began and ended, in microseconds since 1970. */
  from: number;
  to: number;
  /** Ids of the rows that are repeated, in the form they have on the wire. */
  ids: ReadonlySet<string>;
  /** Fingerprints of artifacts and commits, as hexadecimal digits. */
  digests: ReadonlySet<string>;
  /** Names that are no digests and have to be unique: of letters, digits and hyphens. */
  names: readonly string[];
}

/** Gives the text that stands in a place in an epoch. */
export type Slot = (epoch: Epoch) => string;

/** A text with places that differ from epoch to epoch. */
export interface Template {
  /** What stands before, between and behind the places: one more than these. */
  literals: string[];
  /** Numbers of slots. */
  places: number[];
}

/** What commits and other things were before reporting began counts as well, so far back. */
const before = 4 * 86_400 * 1_000_000;

const patterns = [
  "[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{8}",
  String.raw`(?<![0-9a-f])(?:[0-9a-f]{64}|[0-9a-f]{40}|[0-9a-f]{32})(?![0-9a-f])`,
  String.raw`20\d\d-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?\+00`,
  String.raw`(?<![0-9a-f.])1\d{9}(?:\.\d{1,6})?(?![0-9a-f.])`,
];

function shifted(at: number, { from }: Seed, { start, stretch }: Epoch): number {
  return start + (at < from ? at - from : Math.round((at - from) * stretch));
}

function shiftedId(id: string, seed: Seed, epoch: Epoch): string {
  const at = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) * 1000;
  const digits = Math.floor(shifted(at, seed, epoch) / 1000)
    .toString(16)
    .padStart(12, "0");
  return `${digits.slice(0, 8)}-${digits.slice(8)}${id.slice(13)}`;
}

/** Gives other digits in each epoch, that lie in an index as far apart as those of real digests. */
function scrambled(digest: string, { number }: Epoch): string {
  const mask = Math.imul(number, 0x9e3779b1);
  const head = (Number.parseInt(digest.slice(0, 8), 16) ^ mask) >>> 0;
  return head.toString(16).padStart(8, "0") + digest.slice(8);
}

/** Writes a moment as COPY does with time zone UTC. */
function writeMoment(at: number): string {
  const text = new Date(Math.floor(at / 1000)).toISOString();
  const fraction = String(at % 1_000_000)
    .padStart(6, "0")
    .replace(/0+$/, "");
  return `${text.slice(0, 10)} ${text.slice(11, 19)}${fraction === "" ? "" : `.${fraction}`}+00`;
}

function readMoment(text: string): number {
  const fraction = /\.(\d+)/.exec(text)?.[1] ?? "";
  return Date.parse(`${text.slice(0, 10)}T${text.slice(11, 19)}Z`) * 1000 + Number(fraction.padEnd(6, "0"));
}

function writeSeconds(at: number, isWhole: boolean): string {
  const seconds = Math.floor(at / 1_000_000);
  return isWhole ? String(seconds) : `${seconds}.${String(at % 1_000_000).padStart(6, "0")}`;
}

function md5(text: string): string {
  return createHash("md5").update(text).digest("hex");
}

/** Compiles texts of reported rows; equal tokens share a slot, so that each is computed once an epoch. */
export class Compiler {
  readonly slots: Slot[] = [];
  readonly #seed: Seed;
  readonly #known = new Map<string, number>();
  readonly #pattern: RegExp;
  /** Commits by the digest that stands for them where attestations count. */
  readonly #hashed: ReadonlyMap<string, string>;

  constructor(seed: Seed) {
    this.#seed = seed;
    const names = seed.names.map((name) => `(?<![\\w-])${name}(?![\\w-])`);
    this.#pattern = new RegExp([...names, ...patterns].join("|"), "g");
    this.#hashed = new Map([...seed.digests].map((digest) => [md5(digest), digest]));
  }

  /** Adds a slot. @returns its number. */
  add(slot: Slot): number {
    return this.slots.push(slot) - 1;
  }

  /** Finds the places of a text that differ from epoch to epoch. */
  compile(text: string): Template {
    const template: Template = { literals: [], places: [] };
    let from = 0;
    for (const match of text.matchAll(this.#pattern)) {
      const place = this.#placeOf(match[0]);
      if (place === undefined) continue;
      template.literals.push(text.slice(from, match.index));
      template.places.push(place);
      from = match.index + match[0].length;
    }
    template.literals.push(text.slice(from));
    return template;
  }

  #placeOf(token: string): number | undefined {
    const known = this.#known.get(token);
    if (known !== undefined) return known;
    const slot = this.#slotOf(token);
    if (slot === undefined) return undefined;
    const place = this.add(slot);
    this.#known.set(token, place);
    return place;
  }

  #slotOf(token: string): Slot | undefined {
    const seed = this.#seed;
    if (seed.names.includes(token)) return ({ number }) => (number === 0 ? token : `${token}.${number}`);
    if (seed.ids.has(token)) return (epoch) => shiftedId(token, seed, epoch);
    if (seed.digests.has(token)) return (epoch) => scrambled(token, epoch);
    const commit = this.#hashed.get(token);
    if (commit !== undefined) return (epoch) => md5(scrambled(commit, epoch));
    if (/^[0-9a-f]{32}|-7/.test(token)) return undefined;
    return this.#momentSlot(token);
  }

  #momentSlot(token: string): Slot | undefined {
    const seed = this.#seed;
    const isDate = token.endsWith("+00");
    const at = isDate ? readMoment(token) : Math.round(Number(token) * 1_000_000);
    if (at < seed.from - before || at > seed.to) return undefined;
    if (isDate) return (epoch) => writeMoment(shifted(at, seed, epoch));
    const isWhole = !token.includes(".");
    return (epoch) => writeSeconds(shifted(at, seed, epoch), isWhole);
  }
}

/** Computes what stands in each slot in an epoch. */
export function valuesOf(slots: readonly Slot[], epoch: Epoch): string[] {
  return slots.map((slot) => slot(epoch));
}

/** Fills the places of a template. */
export function render({ literals, places }: Template, values: readonly string[]): string {
  let text = literals[0] ?? "";
  for (let place = 0; place < places.length; place += 1)
    text += values[places[place]!]! + literals[place + 1]!;
  return text;
}
