import { describe, expect, it } from "vitest";

import { artifact, attestation } from "../../../test/support/compliance.ts";
import { finish, type Steps } from "../../lib/steps.ts";
import type { Template } from "../template/model.ts";
import { evaluateArtifactInSteps, evaluateTrail, evaluateTrailInSteps, evidenceInSteps } from "./evaluate.ts";
import { artifactRequirementsInSteps, explainTrail, explainTrailInSteps } from "./explain.ts";
import type { TrailCompliance, TrailReports } from "./model.ts";
import { outcomeNamesInSteps } from "./outcome.ts";
import { printComplianceInSteps, printStatesInSteps } from "./print.ts";

/** Counts what is read of a value, however deep: for work whose amount matters, and not its time. */
class ReadCounter {
  reads = 0;
  readonly #seen = new WeakMap<object, object>();

  watch<T>(value: T): T {
    if (typeof value !== "object" || value === null) return value;
    const known = this.#seen.get(value);
    if (known !== undefined) return known as T;
    const watched = new Proxy(value, {
      get: (target, key, receiver) => {
        this.reads += 1;
        return this.watch<unknown>(Reflect.get(target, key, receiver));
      },
    });
    this.#seen.set(value, watched);
    return watched;
  }
}

type Given = [Template, TrailReports];

function countReads([template, reports]: Given, work: (...given: Given) => unknown): number {
  const counter = new ReadCounter();
  work(counter.watch(template), counter.watch(reports));
  return counter.reads;
}

function asking(names: readonly string[]): Template {
  const artifacts = names.map((name) => ({ name, attestations: [{ name: "unit", type: "junit" }] }));
  return { version: 1, trail: { attestations: [], artifacts } };
}

function some<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

/** A trail on which reports wait for `each` names that nothing else is about. */
function waitingForOthers(count: number, each = 20): Given {
  const attestations = some(count, (at) =>
    attestation("unit", "junit", {
      git_commit: `c${at}`,
      target_artifacts: some(each, (index) => `${at}-${index}`),
    }),
  );
  return [asking([]), { artifacts: [], attestations }];
}

/** A trail that has nothing of what a long template asks for. */
function longTemplate(count: number): Given {
  return [asking(some(count, String)), { artifacts: [], attestations: [] }];
}

/** A trail with artifacts that have an attestation each. */
function attestedArtifacts(count: number): Given {
  const artifacts = some(count, (at) => artifact(`a${at}`, { fingerprint: `f${at}` }));
  const attestations = some(count, (at) => attestation("unit", "junit", { artifact_fingerprint: `f${at}` }));
  return [asking([]), { artifacts, attestations }];
}

/** A trail on which reports wait for one artifact, each built from another commit, that is asked for `asked` attestations. */
function waitingForOne(count: number, asked = 1): Given {
  const entries = some(asked, (at) => ({ name: `asked-${at}`, type: "junit" }));
  const template: Template = {
    version: 1,
    trail: { attestations: [], artifacts: [{ name: "api", attestations: entries }] },
  };
  const attestations = some(count, (at) =>
    attestation("asked-0", "junit", { git_commit: `c${at}`, target_artifacts: ["api"] }),
  );
  return [template, { artifacts: [], attestations }];
}

/** A trail that was attested under many names. */
function attestedOnTrail(count: number): Given {
  return [asking([]), { artifacts: [], attestations: some(count, (at) => attestation(`n${at}`, "junit")) }];
}

/** A trail with one artifact that was attested under many names. */
function attestedOnOne(count: number): Given {
  const attestations = some(count, (at) => attestation(`n${at}`, "junit", { artifact_fingerprint: "f1" }));
  return [asking([]), { artifacts: [artifact("api")], attestations }];
}

/** A trail that has nothing of what it is asked for itself. */
function longPlace(count: number): Given {
  const attestations = some(count, (at) => ({ name: `asked-${at}`, type: "junit" }));
  return [
    { version: 1, trail: { attestations, artifacts: [] } },
    { artifacts: [], attestations: [] },
  ];
}

// Twice as much is twice the work, and a little for what does not grow; four times it, were it quadratic.
const twice = 2.3;

describe("the work of judging a trail", () => {
  it.each([
    ["names that reports wait for", waitingForOthers],
    ["artifacts the template asks for", longTemplate],
    ["artifacts with attestations", attestedArtifacts],
    ["commits that reports wait with", waitingForOne],
    ["attestations of the trail", attestedOnTrail],
    ["attestations of an artifact", attestedOnOne],
    ["attestations that the template asks for in one place", longPlace],
  ])("grows no faster than the number of %s", (_, given) => {
    for (const work of [evaluateTrail, explainTrail]) {
      const less = countReads(given(100), work);
      expect(countReads(given(200), work)).toBeLessThan(less * twice);
    }
  });

  it("does not multiply commits that wait for an artifact by what the artifact is asked for", () => {
    const [few, many] = [10, 100].map((commits) => countReads(waitingForOne(commits, 100), explainTrail));
    // Were each of the commits held against each of the hundred, it were more than ten thousand.
    expect(many! - few!).toBeLessThan(9000);
  });
});

/** Finds the most that is read between two stops. */
function longestStep<T>(counter: ReadCounter, steps: Steps<T>): number {
  let longest = 0;
  for (let before = counter.reads; ; before = counter.reads) {
    const { done } = steps.next();
    longest = Math.max(longest, counter.reads - before);
    if (done === true) return longest;
  }
}

describe("the steps of judging a trail", () => {
  const longestOf = (count: number): number => {
    const [template, reports] = waitingForOthers(count);
    const counter = new ReadCounter();
    return longestStep(counter, evaluateTrailInSteps(template, counter.watch(reports)));
  };

  it("are no longer where more is to be judged, but for listing what there is", () => {
    const less = longestOf(200);
    // The attestations of the trail itself are looked for in one go, with a few reads of each.
    expect(longestOf(400)).toBeLessThan(Math.max(less * 1.5, 400 * 10));
  });

  const names = 2_000;
  const stops = (steps: Steps<unknown>): number => {
    for (let count = 0; ; count += 1) if (steps.next().done === true) return count;
  };
  const printed = (compliance: TrailCompliance): number => {
    const places = [compliance, ...compliance.artifacts_statuses.values()];
    for (const { attestations_statuses } of places)
      for (const row of attestations_statuses) row.attestation_id = null;
    const evaluation = { evaluated_at: 1, template_id: "00000000-0000-7000-8000-000000000001" };
    return stops(printComplianceInSteps(compliance, evaluation));
  };

  it("stop for every few names that are judged, written and explained", () => {
    const [template, reports] = waitingForOthers(names / 20);
    expect(stops(evaluateTrailInSteps(template, reports))).toBeGreaterThan((2 * names) / 100);
    expect(stops(explainTrailInSteps(template, reports))).toBeGreaterThan((3 * names) / 100);
    const compliance = finish(evaluateTrailInSteps(template, reports));
    expect(printed(compliance)).toBeGreaterThan(names / 100);
    expect(stops(printStatesInSteps(compliance))).toBeGreaterThanOrEqual(names / 500);
  });

  it.each([
    ["of the trail", attestedOnTrail],
    ["of an artifact", attestedOnOne],
    ["that the template asks for", longPlace],
  ])("stop for every few attestations %s, too", (_, given) => {
    const [template, reports] = given(names);
    const counter = new ReadCounter();
    const watched: Given = [counter.watch(template), counter.watch(reports)];
    // Only where there are so many is looked for in one go, with a few reads of each.
    const enough = names * 10;
    expect(longestStep(counter, evaluateTrailInSteps(...watched))).toBeLessThan(enough);
    expect(longestStep(counter, explainTrailInSteps(...watched))).toBeLessThan(enough);
    expect(stops(evaluateTrailInSteps(template, reports))).toBeGreaterThan((2 * names) / 500);
    expect(stops(explainTrailInSteps(template, reports))).toBeGreaterThan((4 * names) / 500);
    const compliance = finish(evaluateTrailInSteps(template, reports));
    expect(printed(compliance)).toBeGreaterThanOrEqual(names / 500);
    expect(stops(outcomeNamesInSteps(compliance))).toBeGreaterThanOrEqual(names / 500);
  });

  it.each([
    ["trail", attestedOnTrail],
    ["artifact", attestedOnOne],
  ])("stop for every few attestations of the %s when only the artifact is judged", (where, given) => {
    const [template, { attestations }] = given(names);
    const api = artifact("api");
    const reports = { artifacts: [api], attestations };
    expect(stops(evaluateArtifactInSteps(template, reports, api))).toBeGreaterThan(names / 500);
    expect(stops(artifactRequirementsInSteps(template, reports, api))).toBeGreaterThan((2 * names) / 500);
    // Its evidence is what is on the artifact alone.
    const most = where === "artifact" ? names / 100 : 0;
    expect(stops(evidenceInSteps(template, reports, api))).toBeGreaterThanOrEqual(most);
  });
});
