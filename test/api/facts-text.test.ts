import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";

import { text } from "../../src/db/row.ts";
import { query, sql } from "../../src/db/sql.ts";
import { factsText } from "../../src/domain/snapshot/provenance.ts";
import { getFacts } from "../../src/modules/runtime/snapshots/report/facts-service.ts";
import { presentFacts } from "../../src/modules/runtime/snapshots/report/facts-sql.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody, fingerprintOf } from "../support/artifacts.ts";
import { attest } from "../support/attestations.ts";
import { putFlow } from "../support/flows.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

/** What may happen that changes what flows know: all on a trail of a flow. */
const anyStep = fc.record({
  kind: fc.constantFrom("artifact", "artifact", "artifact", "artifact", "attestation", "flow"),
  flow: fc.nat(6),
  trail: fc.nat(1),
  /** Which of the fingerprints is reported. */
  artifact: fc.constantFrom(0, 0, 0, 1),
});
type Step = typeof anyStep extends fc.Arbitrary<infer Value> ? Value : never;

async function take(org: TestOrg, fingerprints: string[], step: Step): Promise<void> {
  const [flow, trail_name] = [`flow-${step.flow}`, `trail-${step.trail}`];
  if (step.kind === "flow") {
    await putFlow(org.admin, org.name, { name: flow, description: fingerprintOf() });
    return;
  }
  if (step.kind === "attestation") {
    const place = { org: org.name, flow, trail: trail_name };
    await attest(org.member, place, "generic", { attestation_name: "any", is_compliant: true });
    return;
  }
  const body = artifactBody({ fingerprint: fingerprints[step.artifact], trail_name });
  expect((await org.member.post(`/artifacts/${org.name}/${flow}`, body)).status).toBe(201);
}

async function textInDatabase(org: TestOrg, fingerprint: string): Promise<string> {
  const present = presentFacts(org.id, sql`${fingerprint}::text`);
  const { facts } = await app.deps.db.one(query({ facts: text })`select ${present} as facts`);
  return facts;
}

it("what flows know is the same text for the program and for the database", async () => {
  const org = await app.org();
  const lengths = new Set<number>();
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyStep, { maxLength: 20, size: "max" }),
      fc.boolean(),
      async (steps, verdictsAreLost) => {
        const fingerprints = [fingerprintOf(), fingerprintOf()];
        for (const step of steps) await take(org, fingerprints, step);
        if (verdictsAreLost)
          await app.deps.db.run(sql`delete from trail_compliance where org_id = ${org.id}`);
        const facts = await getFacts(app.deps.db, org.id, fingerprints, "none");
        for (const fingerprint of fingerprints) {
          const known = factsText(facts.get(fingerprint) ?? []);
          expect(await textInDatabase(org, fingerprint)).toBe(known);
          lengths.add(known.length);
        }
      },
    ),
    { numRuns: 12 },
  );
  // Nothing, a digest, and the text itself of one flow and of several.
  expect([...lengths]).toEqual(expect.arrayContaining([0, 64]));
  expect([...lengths].filter((length) => length > 0 && length !== 64).length).toBeGreaterThan(1);
});
