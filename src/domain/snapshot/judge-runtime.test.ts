import { describe, expect, it } from "vitest";

import { fact, judge, running } from "../../../test/support/judged-case.ts";
import { artifactKey } from "./running.ts";

describe("an artifact that a policy wants compliant on its trail", () => {
  it.each(["COMPLIANT", "INCOMPLETE", "NON-COMPLIANT", "MISSING"] as const)("when it is %s", (state) => {
    const [artifact] = judge([running("web:1")], [fact({ compliance_state: state })]).artifacts;
    expect(artifact?.compliant).toBe(state === "COMPLIANT");
  });
});

describe("a logical environment", () => {
  it("is worth what its members and its own policies say, as is each artifact", () => {
    const artifact = running("web:1");
    const members = { states: [true, false], verdicts: new Map([[artifactKey(artifact), [true]]]) };
    const own = judge([artifact], [fact()], { members });
    expect([own.state, own.artifacts[0]?.compliant]).toEqual([false, true]);
    const none = judge([artifact], [fact()], { members, policies: [] });
    expect([none.state, none.artifacts[0]?.compliant]).toEqual([false, true]);
    const unknown = { states: [null], verdicts: new Map([[artifactKey(artifact), [null]]]) };
    const open = judge([artifact], [fact()], { members: unknown, policies: [] });
    expect([open.state, open.artifacts[0]?.compliant]).toEqual([null, null]);
  });
});
