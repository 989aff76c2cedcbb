import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { evaluateArtifact } from "../../../test/support/policy-verdicts.ts";
import type { KnownFlow } from "./evaluation/model.ts";
import { parsePolicy } from "./parse.ts";
import { finish } from "../../lib/steps.ts";
import { type Preview, type PreviewCase, previewPolicy, type RanArtifact } from "./preview.ts";

const tryOn = (policy: typeof provenance, given: PreviewCase): Preview =>
  finish(previewPolicy(policy, given));

const provenance = parsePolicy("_schema: https://x.test/v1\nartifacts: {provenance: {required: true}}");
const flow: KnownFlow = {
  flow_name: "web",
  trail_name: "t",
  tags: {},
  artifact_status: "COMPLIANT",
  attestations: [],
};

function ran(name: string, first_index: number, last_index: number | null): RanArtifact {
  return { name, fingerprint: name, first_index, last_index };
}

function past(first: number, length: number, ...artifacts: RanArtifact[]): PreviewCase {
  const snapshots = Array.from({ length }, (_, at) => ({
    index: first + at,
    timestamp: 100 + at,
    compliant: null,
  }));
  return { snapshots, artifacts, flows: new Map([["known", [flow]]]), allowed: new Set(["trusted"]) };
}

describe("previewPolicy", () => {
  it("tells from where to where an artifact would have failed, and why", () => {
    const { snapshots, non_compliant_artifacts } = tryOn(
      provenance,
      past(
        3,
        4,
        ran("known", 1, null),
        ran("trusted", 1, null),
        ran("a", 1, 4),
        ran("b", 6, null),
        ran("c", 1, 2),
      ),
    );
    const reasons = [{ rule: "provenance", message: "No flow knows this artifact" }];
    expect(non_compliant_artifacts).toEqual([
      { name: "a", fingerprint: "a", reasons, snapshots: [{ first_index: 3, last_index: 4 }] },
      { name: "b", fingerprint: "b", reasons, snapshots: [{ first_index: 6, last_index: 6 }] },
    ]);
    expect(snapshots).toEqual(
      [1, 1, 0, 1].map((non_compliant_count, at) => ({
        index: 3 + at,
        timestamp: 100 + at,
        compliant: null,
        would_be_compliant: non_compliant_count === 0,
        non_compliant_count,
      })),
    );
  });

  it("makes one span of those that touch, and two of others", () => {
    const { non_compliant_artifacts } = tryOn(
      provenance,
      past(1, 9, ran("a", 4, 5), ran("a", 1, 3), ran("a", 7, null)),
    );
    expect(non_compliant_artifacts.map(({ snapshots }) => snapshots)).toEqual([
      [
        { first_index: 1, last_index: 5 },
        { first_index: 7, last_index: 9 },
      ],
    ]);
  });

  it("has nothing to say of nothing", () => {
    expect(tryOn(provenance, past(1, 0, ran("a", 1, null)))).toEqual({
      snapshots: [],
      non_compliant_artifacts: [],
    });
    expect(tryOn(provenance, past(1, 1)).snapshots[0]).toMatchObject({ would_be_compliant: true });
  });

  it("says of every snapshot what judging it by the policy would say", () => {
    const span = fc
      .tuple(
        fc.constantFrom("known", "trusted", "a", "b"),
        fc.integer({ min: 1, max: 12 }),
        fc.nat(5),
        fc.boolean(),
      )
      .map(([name, first, length, open]) => ran(name, first, open ? null : first + length));
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5 }),
        fc.nat(8),
        // Of one artifact, only one version runs at a time.
        fc.uniqueArray(span, { maxLength: 8, selector: ({ name }) => name }),
        (first, length, artifacts) => {
          const recorded = past(first, length, ...artifacts);
          const { snapshots, non_compliant_artifacts } = tryOn(provenance, recorded);
          for (const { index, would_be_compliant, non_compliant_count } of snapshots) {
            const running = artifacts.filter(
              ({ first_index, last_index }) => first_index <= index && index <= (last_index ?? Infinity),
            );
            const failing = running.filter(({ name, fingerprint }) => {
              const allow_listed = recorded.allowed.has(fingerprint);
              const subject = {
                name,
                fingerprint,
                allow_listed,
                flows: recorded.flows.get(fingerprint) ?? [],
              };
              const policies = [{ id: "", name: "", version: 1, policy: provenance }];
              return evaluateArtifact(subject, policies).compliant === false;
            });
            expect([would_be_compliant, non_compliant_count]).toEqual([failing.length === 0, failing.length]);
            const told = non_compliant_artifacts.filter(({ snapshots: spans }) =>
              spans.some(({ first_index, last_index }) => first_index <= index && index <= last_index),
            );
            expect(told.map(({ name }) => name).toSorted((a, b) => (a < b ? -1 : 1))).toEqual(
              failing.map(({ name }) => name).toSorted((a, b) => (a < b ? -1 : 1)),
            );
          }
        },
      ),
      { numRuns: 500 },
    );
  });
});
