import { stringifySearch } from "./search-params.ts";
import { daySeconds } from "./times.ts";

/** What a snapshot is called where any environment may be meant: `prod`, `prod#7`, `prod~1`, `prod@{2.days.ago}`. */
export interface SnapshotName {
  env: string;
  /** What follows the environment; empty for its latest snapshot. */
  rest: string;
}

/** Parts a snapshot's name into environment and what follows. */
export function readSnapshotName(text: string): SnapshotName {
  const at = text.search(/[#~@]/);
  return at === -1 ? { env: text, rest: "" } : { env: text.slice(0, at), rest: text.slice(at) };
}

/** Names a snapshot by its number. */
export function numbered(env: string, index: number): string {
  return `${env}#${index}`;
}

/** What one usually wants to compare a snapshot with. */
export interface Preset {
  words: string;
  /** The snapshot that it is compared with. */
  from: string;
}

/** Names what ran in an environment at a moment. @param at Unix seconds. */
function atMoment(env: string, at: number): string {
  return `${env}@{${new Date(at * 1000).toISOString().slice(0, 19)}}`;
}

/** The snapshot that presets are asked for; undefined until it is known. */
interface Known {
  index?: number | undefined;
  /** When it began, Unix seconds. */
  timestamp?: number | undefined;
}

/** Gives what a snapshot is usually compared with: the latest with what ran a day or a week ago, another with what ran so long before it. */
export function presetsFor(to: string, { index, timestamp }: Known): Preset[] {
  const { env, rest } = readSnapshotName(to);
  const previous =
    index === undefined || index <= 1 ? [] : [{ words: "Previous", from: numbered(env, index - 1) }];
  if (rest === "")
    return [
      ...previous,
      { words: "Yesterday", from: `${env}@{1.days.ago}` },
      { words: "Last week", from: `${env}@{1.weeks.ago}` },
    ];
  if (timestamp === undefined) return previous;
  return [
    ...previous,
    { words: "A day before", from: atMoment(env, timestamp - daySeconds) },
    { words: "A week before", from: atMoment(env, timestamp - 7 * daySeconds) },
  ];
}

/** What was typed as an expression: one snapshot, or two to be compared. */
export type Expression =
  | { kind: "snapshot"; env: string; expression: string }
  | { kind: "difference"; from: string; to: string };

const expressionPattern = /^[a-z0-9][\w.-]*(?:#\d+|~\d*|@\{[^{}]+\})?$/i;

/** Reads what names a snapshot (`prod~1`, `prod@{2.days.ago}`) or two (`prod#7..prod#9`); undefined for anything else. */
export function readExpression(typed: string): Expression | undefined {
  const parts = typed.trim().split("..");
  const [from, to] = parts;
  if (from === undefined || parts.length > 2 || !parts.every((part) => expressionPattern.test(part)))
    return undefined;
  if (to !== undefined) return { kind: "difference", from, to };
  const { env, rest } = readSnapshotName(from);
  return rest === "" ? undefined : { kind: "snapshot", env, expression: rest.replace(/^#/, "") };
}

/** Gives the path of a snapshot's page by its number, which stays what it is. @param search what else the address says. */
export function snapshotPath(
  org: string,
  env: string,
  index: number,
  search: Record<string, unknown>,
): string {
  const segments = [org, "environments", env, "snapshots", String(index)].map(encodeURIComponent);
  return `/${segments.join("/")}${stringifySearch(search)}`;
}

/** Gives the path of the page that compares two snapshots. */
export function differencePath(org: string, from: string, to: string): string {
  return `/${encodeURIComponent(org)}/diff${stringifySearch({ from, to })}`;
}
