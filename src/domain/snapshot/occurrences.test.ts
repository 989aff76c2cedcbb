import { describe, expect, it } from "vitest";

import {
  commit,
  fact,
  fingerprint,
  judge,
  plan,
  running,
  stored,
} from "../../../test/support/judged-case.ts";
import { movesIn, turnIn } from "./occurrences.ts";
import { compareVersions } from "./versions.ts";

describe("occurrences", () => {
  const environment = { id: "e", name: "prod", type: "server" };
  const news = (state: boolean | null, state_before: boolean | null) => {
    const annotated = compareVersions([], judge([running("a")], [fact()]).artifacts);
    const given = { environment, at: 7, snapshot: { index: 3, compliant: state } };
    return [...movesIn(given, annotated), ...turnIn(given, state_before)];
  };

  it("tell of artifacts and of verdicts that changed", () => {
    expect(news(true, null).map(({ trigger }) => trigger)).toEqual([
      "ON_STARTED_ARTIFACT",
      "ON_COMPLIANT_ENV",
    ]);
    expect(news(false, true).at(-1)?.trigger).toBe("ON_NON_COMPLIANT_ENV");
    for (const state of [true, false, null]) expect(news(state, state)).toHaveLength(1);
    expect(news(null, true)).toHaveLength(1);
    const provenance = {
      flow: "web-ci",
      trail: "run-1",
      status: "COMPLIANT",
      commit,
      commit_url: `https://git.test/a/b/commit/${commit}`,
      build_url: "https://ci.test/1",
    };
    expect(news(true, true)[0]).toEqual({
      trigger: "ON_STARTED_ARTIFACT",
      subject: { kind: "environment", id: "e", name: "prod" },
      at: 7,
      facts: {
        snapshot: { index: 3, compliant: true },
        artifact: { name: "a", fingerprint, provenance },
      },
    });
  });

  it("tell where an artifact that exited came from, and of an unknown one that nobody knows", () => {
    const first = plan([], judge([running("a")], [fact()]));
    const gone = compareVersions(stored(first), []);
    const given = { environment, at: 8, snapshot: { index: 4, compliant: null } };
    expect(movesIn(given, gone)).toMatchObject([
      {
        trigger: "ON_EXITED_ARTIFACT",
        facts: { artifact: { provenance: { flow: "web-ci", build_url: null } } },
      },
    ]);
    const unknown = compareVersions([], judge([running("a")], []).artifacts);
    expect(movesIn(given, unknown)).toMatchObject([
      { trigger: "ON_STARTED_ARTIFACT", facts: { artifact: { provenance: null } } },
    ]);
  });
});
