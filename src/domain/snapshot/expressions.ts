import type { Timestamp } from "../../lib/clock.ts";
import { invalid, notFound, type AppError } from "../errors.ts";
import { environmentNamePattern } from "../names.ts";
import { ago, parseDateTime, type TimeUnit } from "./moments.ts";

/** One of an environment's snapshots. */
type SnapshotExpression = {
  /** As error texts repeat it behind the environment's name; empty for the name alone. */
  asked: string;
} & (
  | {
      kind: "index";
      /** From 1; or from the end, -1 for the latest. */
      index: number;
    }
  | {
      kind: "moment";
      /** The snapshot in force then. */
      timestamp: Timestamp;
    }
);

/** An environment's snapshot, as diffs take it. */
export interface Snappish {
  environment: string;
  expression: SnapshotExpression;
}

const indexPattern = /^#?(-?\d{1,15})$/;
const behindPattern = /^~(\d{1,15})$/;
const momentPattern = /^@\{(.+)\}$/s;
const agoPattern = /^(\d{1,9})\.(hour|day|week|month)s?\.ago$/;

/** Reads `~N`, which is N behind the latest, as a number from the end; undefined for anything else. */
export function readBehind(text: string): number | undefined {
  const behind = behindPattern.exec(text)?.[1];
  return behind === undefined ? undefined : -Number(behind) - 1;
}

function atIndex(index: number): SnapshotExpression {
  // Minus zero is a zero.
  return { kind: "index", index: index + 0, asked: `#${index + 0}` };
}

function parseMoment(text: string, now: Timestamp): SnapshotExpression | undefined {
  if (text.toLowerCase() === "now") return atIndex(-1);
  const [, amount, unit] = agoPattern.exec(text) ?? [];
  const timestamp = amount === undefined ? parseDateTime(text) : ago(now, Number(amount), unit as TimeUnit);
  return timestamp === undefined ? undefined : { kind: "moment", timestamp, asked: `@{${text}}` };
}

function parse(text: string, now: Timestamp): SnapshotExpression | undefined {
  const index = indexPattern.exec(text)?.[1];
  if (index !== undefined) return atIndex(Number(index));
  const behind = readBehind(text);
  if (behind !== undefined) return atIndex(behind);
  const moment = momentPattern.exec(text)?.[1];
  return moment === undefined ? undefined : parseMoment(moment, now);
}

function badSnappish(text: string): AppError {
  return invalid(`Bad snappish ${text}`);
}

/**
 * Reads which snapshot of a known environment is meant: `N`, `#N`, `-N` from the end, `~N` behind the latest,
 * `@{YYYY-MM-DDTHH:MM:SS}` in UTC, `@{N.hours.ago}` (also days, weeks, months) and `@{now}`.
 * @param now what relative times count from.
 * @throws AppError `invalid`
 */
export function parseSnapshotExpression(text: string, now: Timestamp): SnapshotExpression {
  const expression = parse(text, now);
  if (expression === undefined) throw badSnappish(text);
  return expression;
}

/**
 * Reads an environment's name with one of the forms of `parseSnapshotExpression` that begin with `#`, `~` or `@`; the
 * name alone means the latest snapshot.
 * @throws AppError `invalid`
 */
export function parseSnappish(text: string, now: Timestamp): Snappish {
  const at = text.search(/[#~@]/);
  const environment = at === -1 ? text : text.slice(0, at);
  const expression = at === -1 ? { ...atIndex(-1), asked: "" } : parse(text.slice(at), now);
  if (expression === undefined || !environmentNamePattern.test(environment)) throw badSnappish(text);
  return { environment, expression };
}

/** Counts an index from 1. The result may lie outside of 1 to `count`. */
export function absoluteIndex(index: number, count: number): number {
  return index < 0 ? count + 1 + index : index;
}

/**
 * Makes the 404 for a snapshot that does not exist.
 * @param count how many there are.
 */
export function noSuchSnapshot(org: string, { environment, expression }: Snappish, count: number): AppError {
  const resolved = expression.kind === "index" ? absoluteIndex(expression.index, count) : 0;
  return notFound(
    `Org: '${org}'. Snapshot '${environment}${expression.asked}' resolves to '${environment}#${resolved}'. ` +
      `len(snapshots) == ${count}. Indexes are 1-based`,
  );
}
