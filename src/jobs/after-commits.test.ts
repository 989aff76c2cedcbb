import type { JobHelpers } from "graphile-worker";
import { expect, it } from "vitest";

import { afterCommits } from "./after-commits.ts";

const helpers = {} as JobHelpers;

it("runs a task once what queued it can be seen, and fails it when that takes too long", async () => {
  const events: string[] = [];
  let seen = false;
  const wait = async (orgId: string): Promise<void> => {
    events.push(`wait for ${orgId}`);
    if (!seen) throw new Error("not yet");
  };
  const { deliver } = afterCommits(wait, { deliver: async () => void events.push("run") });
  await expect(deliver!({ org_id: "one" }, helpers)).rejects.toThrow("not yet");
  expect(events).toEqual(["wait for one"]);
  seen = true;
  await deliver!({ org_id: "one" }, helpers);
  expect(events).toEqual(["wait for one", "wait for one", "run"]);
});

it("waits for nothing where a task is about no organization", async () => {
  const events: string[] = [];
  const { clean } = afterCommits(async (orgId) => void events.push(orgId), {
    clean: async () => void events.push("run"),
  });
  for (const payload of [undefined, null, {}, { _cron: {} }]) await clean!(payload, helpers);
  expect(events).toEqual(["run", "run", "run", "run"]);
});
