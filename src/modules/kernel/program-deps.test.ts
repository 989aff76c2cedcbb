import { expect, it } from "vitest";

import { StatementTrace } from "../../db/statement-trace.ts";
import type { Deps } from "./deps.ts";
import { keptByProgram, sharedDeps } from "./program-deps.ts";

const program = (): Deps => ({ request: undefined }) as Deps;

const requestOf = (shared: Deps): Deps => ({ ...shared, request: { trace: new StatementTrace(), shared } });

it("is one thing for all requests of a program, and another one for another program", () => {
  const [one, other] = [program(), program()];
  const madeFor: Deps[] = [];
  const kept = keptByProgram((deps) => {
    madeFor.push(deps);
    return new Map<string, number>();
  });
  const first = kept(requestOf(one));
  expect([kept(requestOf(one)), kept(one)].map((same) => same === first)).toEqual([true, true]);
  expect(kept(other)).not.toBe(first);
  expect(madeFor.map((deps) => [one, other].indexOf(deps))).toEqual([0, 1]);
});

it("is never a request's own, also where a request works for another", () => {
  const one = program();
  expect(sharedDeps(one)).toBe(one);
  expect(sharedDeps(requestOf(one))).toBe(one);
  const inner = { ...requestOf(one), request: { trace: new StatementTrace(), shared: one } };
  expect(sharedDeps(inner)).toBe(one);
});
