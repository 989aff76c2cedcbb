import fc from "fast-check";
import { expect, it } from "vitest";

import { anyReports, anyTemplate } from "../../../test/support/compliance.ts";
import { finish } from "../../lib/steps.ts";
import { evaluateTrail } from "./evaluate.ts";
import { outcomeNamesInSteps } from "./outcome.ts";

it("has every name of the verdict, once in each list that it belongs to", () => {
  fc.assert(
    fc.property(anyTemplate, anyReports, (template, reports) => {
      const verdict = evaluateTrail(template, reports);
      const cells = [
        verdict.attestations_statuses,
        ...[...verdict.artifacts_statuses.values()].map(({ attestations_statuses }) => attestations_statuses),
      ].flat();
      const names = finish(outcomeNamesInSteps(verdict));
      for (const list of Object.values(names)) expect(new Set(list).size).toBe(list.length);
      for (const { attestation_name: name, status, is_compliant } of cells) {
        expect(names[status === "COMPLETE" ? "reported" : "missing"]).toContain(name);
        if (is_compliant === false) expect(names.failing).toContain(name);
      }
      const said = new Set(cells.map(({ attestation_name }) => attestation_name));
      for (const name of Object.values(names).flat()) expect(said).toContain(name);
      for (const name of names.failing) expect(names.reported).toContain(name);
    }),
  );
});

it("finds neither anything missing nor anything failing in what complies", () => {
  fc.assert(
    fc.property(anyTemplate, anyReports, (template, reports) => {
      const verdict = evaluateTrail(template, reports);
      if (!verdict.is_compliant) return;
      const { failing, missing } = finish(outcomeNamesInSteps(verdict));
      expect([failing, missing]).toEqual([[], []]);
    }),
  );
});
