import { describe, expect, it } from "vitest";

import { makeCheck } from "./doctor-checks.ts";

const named = { group: "machine", name: "disk" } as const;

describe("makeCheck", () => {
  it("gives what was found a name", async () => {
    const found = { status: "warning", detail: "full", remedy: "Make room" } as const;
    expect(await makeCheck({ ...named, look: () => found })).toEqual({ ...named, ...found });
    expect(await makeCheck({ ...named, look: () => undefined })).toBeUndefined();
  });

  it("makes a finding of what throws, at once or later", async () => {
    const thrown = new Error("no such disk");
    for (const look of [
      () => {
        throw thrown;
      },
      () => Promise.reject(thrown),
    ])
      expect(await makeCheck({ ...named, look })).toMatchObject({
        status: "failing",
        detail: "could not be checked: no such disk",
      });
  });

  it("waits for none that hangs", async () => {
    // Keeps the process going, as what is waited for does.
    const busy = setInterval(() => {}, 1_000);
    const found = await makeCheck({ ...named, look: () => new Promise(() => {}) }, 20);
    clearInterval(busy);
    expect(found).toMatchObject({ ...named, status: "failing", detail: "no answer within 0.02 s" });
  });
});
