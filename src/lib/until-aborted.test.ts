import { setTimeout as delay } from "node:timers/promises";

import { expect, it } from "vitest";

import { untilAborted } from "./until-aborted.ts";

it("waits for work, and for none that is given up", async () => {
  const giving = new AbortController();
  expect(await untilAborted(giving.signal, async () => 1)).toBe(1);
  await expect(untilAborted(giving.signal, () => Promise.reject(new Error("broken")))).rejects.toThrow(
    "broken",
  );
  const endless = untilAborted(giving.signal, () => new Promise(() => {}));
  const failing = untilAborted(giving.signal, async () => {
    await delay(5);
    throw new Error("told to nobody");
  });
  giving.abort(new Error("stopping"));
  await expect(endless).rejects.toThrow("stopping");
  await expect(failing).rejects.toThrow("stopping");
  await delay(20);
  let isBegun = false;
  await expect(untilAborted(giving.signal, async () => void (isBegun = true))).rejects.toThrow("stopping");
  expect(isBegun).toBe(false);
});
