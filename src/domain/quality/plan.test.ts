import { describe, expect, it } from "vitest";

import type { FlowNameOptions } from "./names.ts";
import { deliveryKeys } from "./payload.ts";
import { type DeliveryPlan, planDelivery } from "./plan.ts";

const byKey: FlowNameOptions = { flow_name_base: "key", flow_name_prefix: "", flow_name_suffix: "" };
const sha = "0123456789abcdef0123456789abcdef01234567";
const otherSha = "f".repeat(40);
const fingerprint = "a".repeat(64);

type Json = Record<string, unknown>;

function analysis(changes: Json = {}): Json {
  return {
    serverUrl: "https://quality.example.org",
    taskId: "AZ1",
    status: "SUCCESS",
    analysedAt: "2026-08-01T10:00:00+0000",
    revision: sha,
    project: { key: "shop-api", name: "Shop API", url: "https://quality.example.org/dashboard?id=shop-api" },
    branch: { name: "main", type: "BRANCH", isMain: true, url: "https://quality.example.org/branch" },
    qualityGate: { name: "Team gate", status: "OK", conditions: [] },
    ...changes,
  };
}

function withProperties(properties: Json, changes: Json = {}): Json {
  return analysis({ properties, ...changes });
}

/** Parameters as scanners send them, under our own prefix. */
function withParameters(parameters: Json, changes: Json = {}): Json {
  const entries = Object.entries(parameters).map(([name, value]) => [
    `sonar.analysis.waybill_${name}`,
    value,
  ]);
  return withProperties(Object.fromEntries(entries), changes);
}

function planned(payload: Json, options = byKey): DeliveryPlan {
  const decision = planDelivery(payload, options);
  if (decision.kind !== "plan") throw new Error(`No plan: ${decision.reason}`);
  return decision.plan;
}

function reason(payload: Json, options = byKey): string {
  const decision = planDelivery(payload, options);
  if (decision.kind !== "ignored") throw new Error("There is a plan");
  return decision.reason;
}

describe("properties", () => {
  it.each(["sonar.analysis.waybill_", "sonar.analysis.kosli_"])("are read under %s", (prefix) => {
    const plan = planned(
      withProperties({
        [`${prefix}flow`]: "ci",
        [`${prefix}flow_description`]: "Builds",
        [`${prefix}trail`]: "run-1",
        [`${prefix}trail_description`]: "A run",
        [`${prefix}attestation`]: "backend.quality",
        [`${prefix}git_commit`]: otherSha,
        [`${prefix}artifact_fingerprint`]: fingerprint,
      }),
    );
    expect(plan.flow).toEqual({ name: "ci", description: "Builds" });
    expect(plan.trail).toEqual({ name: "run-1", description: "A run" });
    expect(plan.attestation).toMatchObject({
      name: "quality",
      target_artifact: "backend",
      artifact_fingerprint: fingerprint,
      git_commit_info: { sha1: otherSha },
    });
  });

  it("under our own prefix win", () => {
    const both = { "sonar.analysis.kosli_flow": "theirs", "sonar.analysis.waybill_flow": "ours" };
    expect(planned(withProperties(both)).flow.name).toBe("ours");
  });

  it("that are empty or blank count as not given", () => {
    const properties = { "sonar.analysis.waybill_flow": " ", "sonar.analysis.kosli_flow": "theirs" };
    expect(planned(withProperties(properties)).flow.name).toBe("theirs");
    expect(planned(withParameters({ flow: "", trail: "", attestation: "", git_commit: "" }))).toMatchObject({
      flow: { name: "shop-api" },
      trail: { name: sha },
      attestation: { name: "sonar", git_commit_info: { sha1: sha } },
    });
  });

  it("lose the blanks around them", () => {
    expect(planned(withParameters({ flow: " ci ", trail: "t\n" }))).toMatchObject({
      flow: { name: "ci" },
      trail: { name: "t" },
    });
  });

  it("under other prefixes mean nothing", () => {
    const properties = { "sonar.waybill_flow": "x", waybill_flow: "y", "sonar.analysis.flow": "z" };
    expect(planned(withProperties(properties)).flow.name).toBe("shop-api");
  });

  it.each([5, true, ["x"], {}])("have to be text: %j", (value) => {
    const text = "Property sonar.analysis.waybill_flow should be text";
    expect(reason(withParameters({ flow: value }))).toBe(text);
  });

  it("that are null count as not given", () => {
    expect(planned(withParameters({ flow: null })).flow.name).toBe("shop-api");
  });

  it.each([undefined, null, {}])("may be missing: %j", (properties) => {
    expect(planned(analysis({ properties })).flow.name).toBe("shop-api");
  });
});

describe("flow name", () => {
  it.each<[FlowNameOptions["flow_name_base"], string, string, string]>([
    ["key", "", "", "shop-api"],
    ["name", "", "", "Shop-API"],
    ["key", "team.", "-quality", "team.shop-api-quality"],
    ["name", "a b/", "ü", "a-b-Shop-API-"],
  ])("from %s, prefix '%s', suffix '%s': %s", (flow_name_base, flow_name_prefix, flow_name_suffix, name) => {
    const options = { flow_name_base, flow_name_prefix, flow_name_suffix };
    expect(planned(analysis(), options).flow.name).toBe(name);
  });

  it.each([
    ["org:shop/api", "org-shop-api"],
    ["keeps.all_of~these-", "keeps.all_of~these-"],
    ["a\u{1f600}b", "a-b"],
    ["_private", "private"],
    ["--x", "x"],
    [":x", "x"],
  ])("replaces what flow names do not know: %s", (key, name) => {
    expect(planned(analysis({ project: { key } })).flow.name).toBe(name);
  });

  it("needs something to be left", () => {
    expect(reason(analysis({ project: { key: ":::" } }))).toBe("Project key ':::' gives no flow name");
    expect(
      planned(analysis({ project: { key: ":::" } }), { ...byKey, flow_name_prefix: "p" }).flow.name,
    ).toBe("p---");
  });

  it("has at most 512 characters", () => {
    expect(planned(analysis({ project: { key: "k".repeat(512) } })).flow.name).toHaveLength(512);
    expect(reason(analysis({ project: { key: "k".repeat(513) } }))).toBe(
      `Project key '${"k".repeat(100)}…' gives no flow name`,
    );
  });

  it.each([undefined, null, {}, { name: "Shop" }, { key: "" }, { key: null }])(
    "needs the project it is named after: %j",
    (project) => {
      expect(reason(analysis({ project }))).toBe("Field project.key is missing and no flow is named");
      expect(planned(withParameters({ flow: "ci" }, { project })).flow.name).toBe("ci");
    },
  );

  it("is taken as given or not at all", () => {
    const options = { ...byKey, flow_name_prefix: "p-", flow_name_suffix: "-s" };
    expect(planned(withParameters({ flow: "ci" }), options).flow.name).toBe("ci");
    for (const flow of ["a b", "-a", "a/b", "é", "x".repeat(513)])
      expect(reason(withParameters({ flow }))).toMatch(/^Flow name '.*' is not valid$/);
  });
});

describe("trail name", () => {
  it("is the parameter, else the revision", () => {
    expect(planned(withParameters({ trail: "release-7" })).trail.name).toBe("release-7");
    expect(planned(analysis()).trail.name).toBe(sha);
    expect(planned(analysis({ revision: "r1234" })).trail.name).toBe("r1234");
  });

  it.each([undefined, null, "", " "])("needs one of them: revision %j", (revision) => {
    expect(reason(analysis({ revision }))).toBe("The analysis has no revision and no trail is named");
    expect(planned(withParameters({ trail: "t" }, { revision })).trail.name).toBe("t");
  });

  it.each(["a b", "-a", "a/b", "é", "x".repeat(513)])("has to be valid: %s", (trail) => {
    expect(reason(withParameters({ trail }))).toMatch(/^Trail name '.*' is not valid$/);
    expect(reason(analysis({ revision: trail }))).toMatch(/^Trail name '.*' is not valid$/);
  });
});

describe("attestation name and target", () => {
  it("is sonar, on the trail, when nothing is said", () => {
    expect(planned(analysis()).attestation).toMatchObject({
      name: "sonar",
      target_artifact: null,
      artifact_fingerprint: null,
    });
  });

  it.each([
    ["quality", "quality", null],
    ["backend.quality", "quality", "backend"],
    ["a,b_c-1.d", "d", "a,b_c-1"],
  ])("%s", (given, name, target_artifact) => {
    expect(planned(withParameters({ attestation: given })).attestation).toMatchObject({
      name,
      target_artifact,
    });
  });

  it.each([".", ".x", "x.", "a.b.c", "a b", "a/b", "é", "x".repeat(513), `${"x".repeat(513)}.y`])(
    "has to be valid: %s",
    (attestation) => {
      expect(reason(withParameters({ attestation }))).toMatch(/^Attestation name '.*' is not valid$/);
    },
  );

  it("needs a fingerprint or a commit when it names an artifact", () => {
    const dotted = { attestation: "backend.quality" };
    expect(reason(withParameters(dotted, { revision: "r1" }))).toBe(
      "Attestation name 'backend.quality' requires at least one of: artifact_fingerprint or git_commit",
    );
    expect(
      planned(withParameters({ ...dotted, git_commit: sha }, { revision: "r1" })).attestation.git_commit_info,
    ).toMatchObject({ sha1: sha });
    expect(
      planned(withParameters({ ...dotted, artifact_fingerprint: fingerprint }, { revision: "r1" }))
        .attestation,
    ).toMatchObject({ artifact_fingerprint: fingerprint, target_artifact: "backend", git_commit_info: null });
  });

  it("takes a fingerprint without naming an artifact", () => {
    expect(planned(withParameters({ artifact_fingerprint: fingerprint })).attestation).toMatchObject({
      name: "sonar",
      target_artifact: null,
      artifact_fingerprint: fingerprint,
    });
  });

  it.each(["abc", "A".repeat(64), `sha256:${fingerprint}`, "a".repeat(65)])(
    "takes a full fingerprint only: %s",
    (artifact_fingerprint) => {
      expect(reason(withParameters({ artifact_fingerprint }))).toMatch(
        /^Artifact fingerprint '.*' is not a SHA-256$/,
      );
    },
  );
});

describe("git commit", () => {
  it("is the parameter, else the revision when it looks like one", () => {
    expect(planned(withParameters({ git_commit: otherSha })).attestation.git_commit_info).toEqual({
      sha1: otherSha,
      message: null,
      author: null,
      branch: "main",
      timestamp: null,
      url: null,
    });
    expect(planned(analysis()).attestation.git_commit_info?.sha1).toBe(sha);
    for (const revision of ["1234", sha.toUpperCase(), `${sha}0`])
      expect(planned(analysis({ revision })).attestation.git_commit_info).toBeNull();
  });

  it.each(["abc1234", sha.toUpperCase(), "main"])("has to be a full SHA-1: %s", (git_commit) => {
    expect(reason(withParameters({ git_commit }))).toBe(`Git commit '${git_commit}' is not a full SHA-1`);
  });

  it("knows the branch, unless it is a pull request", () => {
    const branchOf = (branch: unknown): unknown =>
      planned(analysis({ branch })).attestation.git_commit_info?.branch;
    expect(branchOf({ name: "dev", type: "SHORT" })).toBe("dev");
    expect(branchOf({ name: "42", type: "PULL_REQUEST" })).toBeNull();
    for (const branch of [undefined, null, {}, { name: "" }]) expect(branchOf(branch)).toBeNull();
  });
});

describe("verdict", () => {
  it.each([
    ["OK", true],
    ["ERROR", false],
    ["WARN", false],
    ["NONE", false],
    ["ok", false],
    ["", false],
    [null, false],
    [undefined, false],
  ])("gate %j: %j", (status, is_compliant) => {
    const { attestation } = planned(analysis({ qualityGate: { status } }));
    expect(attestation).toMatchObject({ is_compliant, description: null });
  });

  it.each([undefined, null])("no gate (%j) is non-compliant, and says why", (qualityGate) => {
    expect(planned(analysis({ qualityGate })).attestation).toMatchObject({
      is_compliant: false,
      description: "The analysis has no quality gate",
    });
  });
});

describe("analysis status", () => {
  it.each(["FAILED", "CANCELED", "PENDING", "success", "OK"])("%s is no result", (status) => {
    expect(reason(analysis({ status }))).toBe(`The analysis ended with status '${status}'`);
  });

  it.each([undefined, null, ""])("%j is no result", (status) => {
    expect(reason(analysis({ status }))).toBe("The analysis has no status");
  });
});

describe("result", () => {
  it("links to the branch, else the project, when that is a web address", () => {
    const urlOf = (changes: Json): unknown => planned(analysis(changes)).attestation.origin_url;
    expect(urlOf({})).toBe("https://quality.example.org/branch");
    expect(urlOf({ branch: null })).toBe("https://quality.example.org/dashboard?id=shop-api");
    expect(urlOf({ branch: { url: "javascript:alert(1)" } })).toBe(
      "https://quality.example.org/dashboard?id=shop-api",
    );
    expect(urlOf({ branch: { url: "https://" }, project: { key: "x", url: "ftp://x" } })).toBeNull();
  });
});

describe("fields of the wrong kind", () => {
  it.each<[Json, string]>([
    [{ status: 1 }, "Field status should be text"],
    [{ taskId: 7 }, "Field taskId should be text"],
    [{ revision: {} }, "Field revision should be text"],
    [{ project: "shop" }, "Field project should be an object"],
    [{ project: { key: 1 } }, "Field project.key should be text"],
    [{ branch: [] }, "Field branch should be an object"],
    [{ qualityGate: "OK" }, "Field qualityGate should be an object"],
    [{ qualityGate: { status: true } }, "Field qualityGate.status should be text"],
    [{ qualityGate: { conditions: {} } }, "Field qualityGate.conditions should be a list"],
    [{ qualityGate: { conditions: ["x"] } }, "Field qualityGate.conditions.0 should be an object"],
    [
      { qualityGate: { conditions: [{}, ...Array.from({ length: 200_000 }, () => 0)] } },
      "Field qualityGate.conditions.1 should be an object",
    ],
    [{ properties: [] }, "Field properties should be an object"],
    [{ taskId: "x".repeat(513) }, "Field taskId has more than 512 characters"],
  ])("%j", (changes, text) => {
    expect(reason(analysis(changes))).toBe(text);
  });
});

describe("delivery keys", () => {
  it("are task id and project key, where they are text of a sensible length", () => {
    expect(deliveryKeys(analysis())).toEqual({ task_id: "AZ1", project_key: "shop-api" });
    for (const odd of [undefined, null, "", 5, {}, [], "x".repeat(513)])
      expect(deliveryKeys({ taskId: odd, project: { key: odd } })).toEqual({
        task_id: null,
        project_key: null,
      });
    for (const project of [undefined, null, "x", 5, []])
      expect(deliveryKeys({ project })).toEqual({ task_id: null, project_key: null });
  });
});
