import { setImmediate as turn } from "node:timers/promises";

import { describe, expect, it } from "vitest";

import { FairSlots, NoSlot } from "./fair-slots.ts";

const never = new AbortController().signal;
const limits = { total: 3, perOwner: 2, waiting: 4, waitMs: 60_000 };

/** Asks for a slot for each owner in turn and notes who has one. */
function ask(slots: FairSlots, ...owners: string[]) {
  const served: string[] = [];
  const releases = new Map<string, () => void>();
  const asked = owners.map(async (owner, at) => {
    const release = await slots.take(owner, never);
    served.push(`${owner}${at}`);
    releases.set(`${owner}${at}`, release);
  });
  return { served, asked, release: (name: string) => releases.get(name)!() };
}

describe("slots", () => {
  it("go to owners in turn, and never all to one", async () => {
    const { served, asked, release } = ask(new FairSlots(limits), "a", "a", "a", "a", "b", "c", "b");
    await turn();
    expect(served).toEqual(["a0", "a1", "b4"]);
    release("a0");
    await turn();
    release("b4");
    await turn();
    release("c5");
    await turn();
    release("a2");
    await Promise.all(asked);
    expect(served).toEqual(["a0", "a1", "b4", "a2", "c5", "b6", "a3"]);
  });

  it("are given back once, however often that is said", async () => {
    const slots = new FairSlots(limits);
    const release = await slots.take("a", never);
    await slots.take("a", never);
    release();
    release();
    expect(slots.state).toEqual({ active: 1, waiting: 0 });
  });

  it("are refused when too many wait, or one waits too long", async () => {
    const slots = new FairSlots({ total: 1, perOwner: 1, waiting: 1, waitMs: 5 });
    const release = await slots.take("a", never);
    const waiting = slots.take("a", never);
    await expect(slots.take("b", never)).rejects.toThrow(NoSlot);
    await expect(waiting).rejects.toThrow(NoSlot);
    expect(slots.state).toEqual({ active: 1, waiting: 0 });
    release();
    await slots.take("b", never);
  });

  it("are not waited for by who has left", async () => {
    const slots = new FairSlots({ ...limits, total: 1 });
    const release = await slots.take("a", never);
    const leaving = new AbortController();
    const left = slots.take("b", leaving.signal);
    const staying = slots.take("c", never);
    leaving.abort(new Error("gone"));
    await expect(left).rejects.toThrow("gone");
    release();
    await staying;
    await expect(slots.take("d", leaving.signal)).rejects.toThrow("gone");
  });
});
