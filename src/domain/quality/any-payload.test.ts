import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { parseJson } from "../../lib/json.ts";
import { attestationNamePattern, flowNamePattern, gitCommitPattern, trailNamePattern } from "../names.ts";
import { type DeliveryPlan, planDelivery } from "./plan.ts";

type Json = Record<string, unknown>;

const sha = "0123456789abcdef0123456789abcdef01234567";
const fingerprint = "a".repeat(64);

/** One that gives a plan. */
const sound: Json = {
  taskId: "AZ1",
  status: "SUCCESS",
  revision: sha,
  project: { key: "shop-api", name: "Shop API", url: "https://quality.example.org" },
  branch: { name: "main", type: "BRANCH" },
  qualityGate: { name: "Team gate", status: "OK", conditions: [] },
};

const someText = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom("SUCCESS", "OK", sha, fingerprint, "a.b", "x"),
);
const anything = fc.oneof({ weight: 2, arbitrary: someText }, fc.jsonValue());
const propertyName = fc
  .tuple(
    fc.constantFrom("sonar.analysis.waybill_", "sonar.analysis.kosli_"),
    fc.constantFrom(
      "flow",
      "flow_description",
      "trail",
      "trail_description",
      "attestation",
      "git_commit",
      "artifact_fingerprint",
    ),
  )
  .map((parts) => parts.join(""));
const change: fc.Arbitrary<Json> = fc.oneof(
  fc.record({ status: anything }),
  fc.record({ taskId: anything }),
  fc.record({ revision: anything }),
  fc.record({ project: fc.record({ key: anything, name: anything, url: anything }) }),
  fc.record({ project: anything }),
  fc.record({ branch: fc.record({ name: anything, type: anything, url: anything }) }),
  fc.record({ qualityGate: fc.record({ status: anything, conditions: anything }) }),
  fc.record({ properties: fc.dictionary(propertyName, anything, { maxKeys: 3 }) }),
  fc.record({ properties: anything }),
);
/** Analyses with a few things wrong or unusual about them, and objects that are nothing of the kind. */
const payloads: fc.Arbitrary<Json> = fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), {
  weight: 9,
  arbitrary: fc
    .array(change, { maxLength: 4 })
    .map((changes) => changes.reduce((payload, one) => ({ ...payload, ...one }), sound)),
});
const settings = fc.record({
  flow_name_base: fc.constantFrom("key" as const, "name" as const),
  flow_name_prefix: fc.string({ maxLength: 50 }),
  flow_name_suffix: fc.string({ maxLength: 50 }),
});

function isName(pattern: RegExp, name: string): boolean {
  return pattern.test(name) && name.length <= 512;
}

/** Says whether everything a plan names may be stored under that name. */
function isSound({ flow, trail, attestation }: DeliveryPlan): boolean {
  const commit = attestation.git_commit_info?.sha1 ?? null;
  const target = attestation.target_artifact;
  return (
    isName(flowNamePattern, flow.name) &&
    isName(trailNamePattern, trail.name) &&
    isName(attestationNamePattern, attestation.name) &&
    (commit === null || gitCommitPattern.test(commit)) &&
    (target === null ||
      (isName(attestationNamePattern, target) &&
        (commit !== null || attestation.artifact_fingerprint !== null)))
  );
}

function isSentence(text: string): boolean {
  return /^[A-Z]/.test(text) && text.isWellFormed() && text.length < 1500;
}

describe("any JSON object", () => {
  it("leads to a plan with valid names, or to a reason", () => {
    const seen = { plan: 0, ignored: 0 };
    fc.assert(
      fc.property(payloads, settings, (payload, options) => {
        const decision = planDelivery(payload, options);
        seen[decision.kind] += 1;
        return decision.kind === "plan" ? isSound(decision.plan) : isSentence(decision.reason);
      }),
      { numRuns: 3000 },
    );
    expect(seen.plan).toBeGreaterThan(200);
    expect(seen.ignored).toBeGreaterThan(200);
  });

  it("survives the way through text", () => {
    fc.assert(
      fc.property(payloads, settings, (payload, options) => {
        const text = JSON.stringify(payload);
        if (text.includes("__proto__") || text.includes("\\u0000") || !text.isWellFormed()) return;
        const decision = planDelivery(payload, options);
        const again = parseJson(Buffer.from(text)) as Json;
        expect(JSON.stringify(planDelivery(again, options))).toBe(JSON.stringify(decision));
      }),
    );
  });
});
