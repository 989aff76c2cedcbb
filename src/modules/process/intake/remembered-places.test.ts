import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { FoundTrail } from "./look-store.ts";
import { RememberedPlaces } from "./remembered-places.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => void vi.useRealTimers());

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

function trailOf(template = "version: 1\n"): FoundTrail {
  return {
    flow_id: "flow",
    by_name: true,
    archived: false,
    watched: false,
    template,
    template_id: "template",
    trail_id: "trail",
    version: "1001",
    last_modified_at: 1,
    evaluated_at: 1,
    own_digest: "digest",
    artifacts: [],
    attestations: [],
  };
}

describe("RememberedPlaces", () => {
  it("gives what was kept, by organization, flow and trail", () => {
    const places = new RememberedPlaces();
    places.keepTrail("one", asked, trailOf());
    expect(places.trail("one", asked)).toEqual(trailOf());
    expect(places.trail("two", asked)).toBeUndefined();
    expect(places.trail("one", { ...asked, name: "other" })).toBeUndefined();
    places.forgetTrail("one", asked);
    expect(places.trail("one", asked)).toBeUndefined();
  });

  it("gives a repo only to who reports it to the letter as before", () => {
    const places = new RememberedPlaces();
    const found = { id: "id", row_version: "7", changed: false };
    places.keepRepo("one", repo, found);
    expect(places.repo("one", { ...repo })).toEqual(found);
    expect(places.repo("one", { ...repo, description: "new" })).toBeUndefined();
    expect(places.repo("two", repo)).toBeUndefined();
  });

  it("gives nothing that was kept a minute ago", () => {
    const places = new RememberedPlaces();
    places.keepTrail("one", asked, trailOf());
    vi.advanceTimersByTime(60_000);
    expect(places.trail("one", asked)).toBeDefined();
    vi.advanceTimersByTime(1);
    expect(places.trail("one", asked)).toBeUndefined();
  });

  it("gives nothing of an organization for a while after it was refuted, for longer each time", () => {
    const places = new RememberedPlaces();
    for (const pauseMs of [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]) {
      places.judge("one", false);
      vi.advanceTimersByTime(pauseMs - 1);
      places.keepTrail("one", asked, trailOf());
      places.keepTrail("two", asked, trailOf());
      expect(places.trail("one", asked)).toBeUndefined();
      expect(places.trail("two", asked)).toBeDefined();
      vi.advanceTimersByTime(1);
      expect(places.trail("one", asked)).toBeDefined();
    }
    places.judge("one", true);
    places.judge("one", false);
    vi.advanceTimersByTime(1_000);
    expect(places.trail("one", asked)).toBeDefined();
  });

  it("keeps no more than some megabytes: those that were used last", () => {
    const places = new RememberedPlaces();
    const names = Array.from({ length: 40 }, (_, at) => ({ ...asked, name: `run-${at}` }));
    for (const name of names) places.keepTrail("one", name, trailOf("x".repeat(1024 * 1024)));
    const known = names.map((name) => places.trail("one", name) !== undefined);
    expect(known.lastIndexOf(false)).toBeLessThan(known.indexOf(true));
    expect(known.filter(Boolean).length).toBeLessThanOrEqual(16);
    expect(known.at(-1)).toBe(true);
  });
});
