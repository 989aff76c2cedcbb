import type { z } from "zod";

import { isJsonObject } from "../lib/json-object.ts";

/** Says whether a value is one that a schema accepts and gives back as it is. Where it is not sure it says no. */
type Accepts = (value: unknown) => boolean;

const checks = new WeakMap<object, Accepts>();

/**
 * Gives a schema of items a cheaper check, for values of which there are very many and nearly all are right. What it does not
 * accept is left to the schema, which says what is wrong.
 */
export function quickly<S extends z.ZodType>(schema: S, accepts: Accepts): S {
  checks.set(schema, accepts);
  return schema;
}

/** Says whether the cheaper check of a schema, if there is one, accepts a value. */
export function isQuicklyAccepted(schema: z.ZodType, value: unknown): boolean {
  return checks.get(schema)?.(value) ?? false;
}

/** A member that an object may have, in its place: validation writes them in the order of the schema. */
export interface Member {
  name: string;
  isOptional?: boolean;
  accepts: Accepts;
}

/** Makes a check of an object that has these members, in this order, and no others. */
export function objectOf(members: readonly Member[]): Accepts {
  return (value) => {
    if (!isJsonObject(value)) return false;
    let place = 0;
    for (const name in value) {
      while (members[place]?.isOptional === true && members[place]?.name !== name) place += 1;
      const member = members[place];
      if (member?.name !== name || !member.accepts(value[name])) return false;
      place += 1;
    }
    return members.slice(place).every(({ isOptional }) => isOptional === true);
  };
}

/** Longest lists and maps that are looked at so: the others are validated some items at a time. */
const few = 20;

/** Makes a check of a short list. */
export function shortListOf(item: Accepts): Accepts {
  return (value) => Array.isArray(value) && value.length <= few && value.every(item);
}

/** Makes a check of a small map. */
export function smallMapOf(key: Accepts, item: Accepts): Accepts {
  return (value) => {
    if (!isJsonObject(value)) return false;
    let entries = 0;
    for (const name in value) {
      entries += 1;
      if (entries > few || !key(name) || !item(value[name])) return false;
    }
    return true;
  };
}
