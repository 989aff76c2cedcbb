import { expect, it } from "vitest";

import type { Diagnosis } from "../../src/domain/doctor.ts";

/** What was found of something that is well: what it is, and the finding. */
export type Well = [string, Diagnosis];
/** What was found of a fault: what it is, the finding, how bad it has to be, and what has to be said of it. */
export type Fault = [string, Diagnosis, Diagnosis["status"], RegExp];

/** Tests that what is well is said to be, and that faults are named, each with a remedy. */
export function testDiagnoses(well: Well[], faults: Fault[]): void {
  it.each(well)("finds nothing wrong with %s", (_, found) => {
    expect(found).toMatchObject({ status: "ok", remedy: null });
    expect(found.detail).not.toBe("");
  });

  it.each(faults)("finds a fault with a remedy: %s", (_, found, status, detail) => {
    expect(found.status).toBe(status);
    expect(found.detail).toMatch(detail);
    expect(found.remedy).toMatch(/\w/);
  });
}
