import { capitalized } from "./text.ts";
import { daySeconds } from "./units.ts";

/** A reason to doubt the time, with the difference in seconds. */
export type Doubt =
  /** The machine's clock is ahead of the database's. */
  | { kind: "ahead_of_database"; by: number }
  /** The clock went on further than time did. `settles`: it may have been a pause of the machine. */
  | { kind: "jumped"; by: number; settles: boolean }
  /** At the start the clock was further from the last right time than servers are ever away. */
  | { kind: "away"; by: number }
  /** Records have times in the future. `tooFar`: further than a clock set back would explain. */
  | { kind: "records_ahead"; by: number; tooFar: boolean };

const units = [
  ["year", 365.25 * daySeconds],
  ["day", daySeconds],
  ["hour", 3600],
  ["minute", 60],
] as const;

/** Writes a number of seconds in words, such as `100 years` or `7 minutes`. */
export function describeSpan(seconds: number): string {
  for (const [name, length] of units) {
    const count = Math.round(seconds / length);
    if (seconds >= 2 * length || (seconds >= length && count === 1))
      return `${count} ${name}${count === 1 ? "" : "s"}`;
  }
  return `${Math.round(seconds)} seconds`;
}

/** Says whether nothing may be recorded while there is this doubt. */
export function refuses(doubt: Doubt): boolean {
  return doubt.kind !== "records_ahead" || doubt.tooFar;
}

const nothing = "Nothing is recorded until that is put right";

/** Explains a doubt: to callers, and to the operator, who is told what to do. */
export function explainDoubt(doubt: Doubt): { caller: string; operator: string } {
  const span = describeSpan(doubt.by);
  switch (doubt.kind) {
    case "ahead_of_database": {
      const what = `the server's clock is ${span} ahead of the database's`;
      return {
        caller: `${capitalized(what)}, try again later`,
        operator: `${what}. ${nothing}: set the clock that is wrong`,
      };
    }
    case "jumped": {
      const what = `the server's clock went on by ${span} at once`;
      const end = doubt.settles
        ? "after two minutes it is taken for right; `waybill admin accept-time` does that now"
        : "set the clock, or say `waybill admin accept-time` if it is right";
      return { caller: `${capitalized(what)}, try again later`, operator: `${what}. ${nothing}: ${end}` };
    }
    case "away": {
      const what = `the server's clock is ${span} after the last time that was recorded`;
      return {
        caller: `${capitalized(what)}, try again later`,
        operator: `${what}. ${nothing}: set the clock, or say \`waybill admin accept-time\` if it is right`,
      };
    }
    case "records_ahead": {
      const what = `records are ${span} ahead of the server's clock`;
      const consequence = doubt.tooFar ? nothing : "What follows them gets their time";
      return {
        caller: `${capitalized(what)}, try again later`,
        operator: `${what}. ${consequence}: set the clock if it is behind, otherwise see \`waybill admin repair-times\``,
      };
    }
  }
}
