import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { artifactNames, runsOf, tellEvent } from "./trail-story.ts";

const run = (type: string, environment_name: string, timestamp: number) => ({
  type,
  timestamp,
  environment_name,
  artifact_fingerprint: "f",
  snapshot_index: timestamp,
  template_reference_name: "api",
});

describe("the story of a trail", () => {
  it("says where an artifact runs by what happened last in each environment", () => {
    const runs = runsOf([
      run("artifact_started_running", "staging", 1),
      run("artifact_started_running", "prod", 2),
      run("artifact_stopped_running", "staging", 3),
    ]).get("f");
    expect(runs).toEqual([
      { environment_name: "staging", snapshot_index: 3, since: 3, isRunning: false },
      { environment_name: "prod", snapshot_index: 2, since: 2, isRunning: true },
    ]);
  });

  it("has words for every event, known or not", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.dictionary(fc.string(), fc.jsonValue()), (type, data) => {
        expect(tellEvent({ ...data, type, timestamp: 1 }).words).not.toBe("");
      }),
    );
    expect(tellEvent(run("artifact_started_running", "prod", 2))).toMatchObject({
      words: "Artifact api started running in prod",
      snapshot: { environment_name: "prod", snapshot_index: 2 },
    });
    const report = { type: "trail_attestation_reported", timestamp: 1, template_reference_name: "tests" };
    expect(tellEvent({ ...report, is_compliant: false, attestation_id: "a" })).toMatchObject({
      verdict: "non-compliant",
      attestation_id: "a",
    });
  });

  it("knows names of artifacts", () => {
    const event = {
      type: "artifact_creation_reported",
      timestamp: 1,
      artifact_fingerprint: "f",
      artifact_name: "api:1",
    };
    expect(artifactNames([event]).get("f")).toBe("api:1");
  });
});
