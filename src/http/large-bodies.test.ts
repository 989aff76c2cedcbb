import { EventEmitter } from "node:events";
import { setImmediate } from "node:timers/promises";

import type { FastifyRequest } from "fastify";
import { describe, expect, it } from "vitest";

import { mebibyte } from "../lib/units.ts";
import { LargeBodies } from "./large-bodies.ts";

function requestOf(org: string): FastifyRequest & { raw: { socket: EventEmitter } } {
  const caller = { principal: { id: org }, org: { id: org, role: "member" } };
  const request: unknown = { caller, raw: { socket: new EventEmitter() }, bodyIsRead: null };
  return request as FastifyRequest & { raw: { socket: EventEmitter } };
}

/** Closes the connection of a request, as a client does. */
function leave({ raw }: FastifyRequest): void {
  (raw.socket as { destroyed: boolean }).destroyed = true;
  raw.socket.emit("close");
}

/** Bodies that ask to be read, and what has become of them. */
function ask(bodies: LargeBodies, org: string, bytes: number, before?: (request: FastifyRequest) => void) {
  const request = requestOf(org);
  before?.(request);
  const state = { request, is: "waiting" };
  bodies.enter(request, Buffer.alloc(bytes)).then(
    () => (state.is = "reading"),
    (error: Error) => (state.is = error.message),
  );
  return state;
}

describe("large bodies", () => {
  it("are read a few at a time, one of each organization, the next when one is done", async () => {
    const bodies = new LargeBodies();
    const [first, second, other, third] = ["a", "a", "b", "c"].map((org) => ask(bodies, org, 2 * mebibyte));
    const states = (): unknown[] => [first, second, other, third].map((state) => state?.is);
    await setImmediate();
    expect(states()).toEqual(["reading", "waiting", "reading", "waiting"]);
    first!.request.bodyIsRead!();
    await setImmediate();
    expect(states().filter((is) => is === "reading")).toHaveLength(3);
    other!.request.bodyIsRead!();
    await setImmediate();
    expect(states()).toEqual(["reading", "reading", "reading", "reading"]);
  });

  it("wait for nobody when they are small, or not so large", async () => {
    const bodies = new LargeBodies();
    const sizes = [2 * mebibyte, 2 * mebibyte, mebibyte / 2, 1000];
    const states = sizes.map((bytes) => ask(bodies, "a", bytes));
    await setImmediate();
    expect(states.map(({ is }) => is)).toEqual(["reading", "waiting", "reading", "reading"]);
  });

  it("are forgotten when their sender goes away", async () => {
    const bodies = new LargeBodies();
    const [first, gone, next] = [1, 2, 3].map(() => ask(bodies, "a", 2 * mebibyte));
    await setImmediate();
    gone!.request.raw.socket.emit("close");
    first!.request.bodyIsRead!();
    await setImmediate();
    expect([gone!.is, next!.is]).toEqual(["The connection was closed", "reading"]);
    expect(next!.request.raw.socket.listenerCount("close")).toBe(0);
  });

  it("take no turn when their sender went away before, or in the moment in which it came", async () => {
    const bodies = new LargeBodies();
    const first = ask(bodies, "a", 2 * mebibyte);
    const late = ask(bodies, "a", 2 * mebibyte);
    await setImmediate();
    first.request.bodyIsRead!();
    leave(late.request);
    const before = ask(bodies, "a", 2 * mebibyte, leave);
    await setImmediate();
    const next = ask(bodies, "a", 2 * mebibyte);
    await setImmediate();
    expect([late.is, before.is, next.is]).toEqual([
      "The connection was closed",
      "The connection was closed",
      "reading",
    ]);
  });
});
