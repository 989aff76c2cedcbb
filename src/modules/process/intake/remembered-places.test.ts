import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { mebibyte } from "../../../lib/units.ts";
import type { FoundTrail } from "./look-store.ts";
import { RememberedPlaces } from "./remembered-places.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => void vi.useRealTimers());

const now = 1_790_000_000;
const asked = { flow_name: "web-ci", name: "run" };
const repo = {
  repo_id: "7",
  provider: "gitlab",
  name: "acme/web",
  url: "https://git.example.com/acme/web",
  description: null,
  vcs_instance: "git.example.com",
  namespace_path: null,
  additional_info: null,
};

function trailOf(change: Partial<FoundTrail> = {}): FoundTrail {
  return {
    flow_id: "flow",
    by_name: true,
    archived: false,
    watched: false,
    template: "version: 1\n",
    template_id: "template",
    trail_id: "trail",
    version: "1001",
    last_modified_at: now,
    evaluated_at: 1,
    own_digest: "digest",
    artifacts: [],
    attestations: [],
    ...change,
  };
}

function heapUsed(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  return process.memoryUsage().heapUsed;
}

function numbers(count: number): string[] {
  return Array.from({ length: count }, (_, at) => String(at));
}

describe("RememberedPlaces", () => {
  it("gives what was kept, by organization, flow and trail", () => {
    const places = new RememberedPlaces();
    places.keepTrail("one", asked, trailOf());
    expect(places.trail("one", asked, now)).toEqual(trailOf());
    expect(places.trail("two", asked, now)).toBeUndefined();
    expect(places.trail("one", { ...asked, name: "other" }, now)).toBeUndefined();
    places.forgetTrail("one", asked);
    expect(places.trail("one", asked, now)).toBeUndefined();
  });

  it("gives a repo only to who reports it to the letter as before", () => {
    const places = new RememberedPlaces();
    const found = { id: "id", row_version: "7", changed: false };
    places.keepRepo("one", repo, found);
    expect(places.repo("one", { ...repo })).toEqual(found);
    expect(places.repo("one", { ...repo, description: "new" })).toBeUndefined();
    expect(places.repo("two", repo)).toBeUndefined();
  });

  it("gives nothing of a trail that was last reported to more than a minute ago, or from now", () => {
    const places = new RememberedPlaces();
    places.keepTrail("one", asked, trailOf());
    for (const [seconds, isKnown] of [
      [60, true],
      [-60, true],
      [60.001, false],
      [-60.001, false],
    ] as const)
      expect(places.trail("one", asked, now + seconds) !== undefined).toBe(isKnown);
    places.keepTrail("one", asked, trailOf({ last_modified_at: null }));
    expect(places.trail("one", asked, now)).toBeUndefined();
  });

  it("gives nothing of an organization for a while after it was refuted, for longer each time", () => {
    const places = new RememberedPlaces();
    for (const pauseMs of [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]) {
      places.refute("one");
      vi.advanceTimersByTime(pauseMs - 1);
      places.keepTrail("one", asked, trailOf());
      places.keepTrail("two", asked, trailOf());
      expect(places.trail("one", asked, now)).toBeUndefined();
      expect(places.trail("two", asked, now)).toBeDefined();
      vi.advanceTimersByTime(1);
      expect(places.trail("one", asked, now)).toBeDefined();
    }
    places.confirm("one");
    places.refute("one");
    vi.advanceTimersByTime(1_000);
    expect(places.trail("one", asked, now)).toBeDefined();
  });

  it("keeps no more than some megabytes: those that were used last", () => {
    const places = new RememberedPlaces();
    const names = Array.from({ length: 60 }, (_, at) => ({ ...asked, name: `run-${at}` }));
    for (const name of names) places.keepTrail("one", name, trailOf({ template: "x".repeat(500_000) }));
    const known = names.map((name) => places.trail("one", name, now) !== undefined);
    expect(known.lastIndexOf(false)).toBeLessThan(known.indexOf(true));
    expect(known.filter(Boolean).length).toBeLessThanOrEqual(34);
    expect(known.at(-1)).toBe(true);
  });

  const attestation = {
    attestation_id: "id",
    name: "unit",
    type: "generic",
    is_compliant: true,
    is_override: false,
    artifact_fingerprint: null,
    target_artifacts: null,
    git_commit: null,
    reported_at: 1,
  };

  it.each([
    ["is heavy", { template: "x".repeat(600_000) }],
    ["is meant for many", { attestations: [{ ...attestation, target_artifacts: numbers(10_000) }] }],
    ["has many reports", { attestations: numbers(101).map((name) => ({ ...attestation, name })) }],
  ])("keeps no trail that %s, nor what it was before, and leaves others where they are", (_, change) => {
    const places = new RememberedPlaces();
    places.keepTrail("one", asked, trailOf());
    places.keepTrail("two", asked, trailOf());
    places.keepTrail("one", asked, trailOf(change));
    expect(places.trail("one", asked, now)).toBeUndefined();
    expect(places.trail("two", asked, now)).toBeDefined();
  });

  it("keeps nothing of what names were cut out of", () => {
    const places = new RememberedPlaces();
    const before = heapUsed();
    for (let at = 0; at < 64; at += 1) {
      const url = `${"x".repeat(mebibyte)}?trail=run-of-a-pipeline-${at}`;
      places.keepTrail("one", { flow_name: "web-ci", name: url.slice(mebibyte + 7) }, trailOf());
    }
    expect(heapUsed() - before).toBeLessThan(16 * mebibyte);
    expect(places.trail("one", { flow_name: "web-ci", name: "run-of-a-pipeline-63" }, now)).toBeDefined();
  });
});
