import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { firstSteps, type Known } from "./first-steps.ts";

const place = { server: "https://waybill.example", org: "acme" };
const nothing: Known = {
  flow: undefined,
  trail: undefined,
  artifact: undefined,
  hasAttestation: false,
  environment: undefined,
  hasReport: false,
  hasPolicy: false,
};

const known = fc.record<Known>({
  flow: fc.option(fc.constantFrom("shop", "api"), { nil: undefined }),
  trail: fc.option(fc.constantFrom("41", "42"), { nil: undefined }),
  artifact: fc.option(fc.constant("a".repeat(64)), { nil: undefined }),
  hasAttestation: fc.boolean(),
  environment: fc.option(fc.constantFrom({ name: "eu", type: "K8S" }, { name: "disk", type: "server" }), {
    nil: undefined,
  }),
  hasReport: fc.boolean(),
  hasPolicy: fc.boolean(),
});

describe("first steps", () => {
  it("are all to be done where there is nothing, each with a command", () => {
    const steps = firstSteps(place, nothing, 0);
    expect(steps).toHaveLength(7);
    expect(steps.some(({ isDone }) => isDone)).toBe(false);
    for (const { commands } of steps) expect(commands.length).toBeGreaterThan(0);
  });

  it("are as many as are done, and go on from what there is", () => {
    fc.assert(
      fc.property(known, (has) => {
        const steps = firstSteps(place, has, 0);
        const isThere = [
          has.flow,
          has.trail,
          has.artifact,
          has.hasAttestation,
          has.environment,
          has.hasReport,
        ];
        expect(steps.map(({ isDone }) => isDone)).toEqual(
          [...isThere, has.hasPolicy].map((one) => one !== undefined && one !== false),
        );
        const commandOf = (key: string): string =>
          steps
            .find((step) => step.key === key)
            ?.commands.map(({ curl }) => curl)
            .join("\n") ?? "";
        if (has.flow !== undefined) expect(commandOf("trail")).toContain(`/trails/acme/${has.flow}`);
        if (has.trail !== undefined) expect(commandOf("attestation")).toContain(`/trail/${has.trail}/`);
        if (has.artifact !== undefined) expect(commandOf("report")).toContain(has.artifact);
        if (has.environment !== undefined)
          expect(commandOf("policy")).toContain(`/environments/acme/${has.environment.name}/policies`);
      }),
    );
  });
});
