import { describe, expect, it } from "vitest";

import { judgeRuntime } from "../../../test/support/judging.ts";
import { leastLongestTurn } from "../../../test/support/turns.ts";
import { finish, paced } from "../../lib/steps.ts";
import { nextTurn } from "../../lib/turns.ts";
import type { PolicyVersion } from "../policy/evaluation/model.ts";
import { parsePolicy } from "../policy/parse.ts";
import { failingPolicies } from "./annotate.ts";
import { judgedBy, type RuntimeRules } from "./judge.ts";
import { planJudging, runningPieces, type VersionSummary } from "./judging-plan.ts";
import { documentFormat } from "./print.ts";
import { factsText } from "./provenance.ts";
import { artifactKey, type Pod, type RunningArtifact } from "./running.ts";

const [web, db, old] = ["aa", "bb", "cc"].map((digits) => digits.repeat(32)) as [string, string, string];

function running(name: string, fingerprint: string, started = [5]): RunningArtifact {
  return { name, fingerprint, creationTimestamp: started, pods: null };
}

function summary(id: number, artifact: RunningArtifact, more: Partial<VersionSummary> = {}): VersionSummary {
  const { name, fingerprint } = artifact;
  const text = [...runningPieces(artifact)].join("");
  const known = { id, name, fingerprint, running: text, compliant: true, follows: [], findings: null };
  return { ...known, is_unproven: false, is_stale: false, ...more };
}

/** Which versions hold, and what has to be judged. */
function planned(now: RunningArtifact[], versions: VersionSummary[]): [number[], string[]] {
  const { kept, toJudge } = finish(planJudging(now, versions));
  return [[...kept.values()].map(({ version }) => version), toJudge.map(({ name }) => name)];
}

describe("what need not be judged again", () => {
  const [a, b] = [running("a", web), running("b", db)];

  it("is what runs as it did", () => {
    expect(planned([a, b], [summary(1, a), summary(2, b)])).toEqual([[1, 2], []]);
  });

  it("is not what has begun to run, or runs in another way", () => {
    expect(planned([a, b], [summary(1, a)])).toEqual([[1], ["b"]]);
    expect(planned([running("a", web, [5, 6]), b], [summary(1, a), summary(2, b)])).toEqual([[2], ["a"]]);
    expect(planned([running("c", web)], [summary(1, a)])).toEqual([[], ["c"]]);
  });

  it("is not what has exited", () => {
    expect(planned([a], [summary(1, a), summary(2, b)])).toEqual([[1], []]);
  });

  it("is not what flows know something else of", () => {
    expect(planned([a, b], [summary(1, a, { is_stale: true }), summary(2, b)])).toEqual([[2], ["a"]]);
  });

  it("is not what followed something that has begun or ceased to run", () => {
    const follower = summary(1, a, { follows: [old] });
    const before = running("before", old);
    expect(planned([a], [follower])).toEqual([[1], []]);
    expect(planned([a, before], [follower])).toEqual([[], ["a", "before"]]);
    expect(planned([a], [follower, summary(2, before)])).toEqual([[], ["a"]]);
    const other = running("other", old);
    expect(planned([a, other], [follower, summary(2, before)])).toEqual([[1], ["other"]]);
  });
});

/** An artifact in so many pods of a deployment. */
function inPods(name: string, fingerprint: string, count: number): RunningArtifact {
  const pods = Array.from({ length: count }, (_, at): [string, Pod] => {
    const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: `${name}-5d4f8`, controller: true };
    const owners = [{ ...owner, uid: `${at}`.padStart(36, "0"), blockOwnerDeletion: true }];
    return [`${name}-5d4f8-${at}`, { namespace: "shop", creationTimestamp: 5, owners }];
  });
  return {
    ...running(
      name,
      fingerprint,
      pods.map(() => 5),
    ),
    pods: Object.fromEntries(pods),
  };
}

describe("what runs in many places", () => {
  const a = inPods("a", web, 1_000);
  const places = Object.entries(a.pods ?? {});
  const [name, last] = places.at(-1) as [string, Pod];

  it("runs as it did in all of them, or has to be judged", () => {
    const { name: _name, fingerprint: _fingerprint, ...shown } = a;
    const text = JSON.stringify(shown);
    expect(summary(1, a).running).toBe(text);
    expect(text.length).toBeGreaterThan(3 * 64 * 1024);
    const fewer = { ...a, pods: Object.fromEntries(places.slice(0, -1)) };
    const other = { ...a, pods: { ...a.pods, [name]: { ...last, owners: null } } };
    expect(planned([a], [summary(1, a)])).toEqual([[1], []]);
    for (const changed of [fewer, other, running("a", web)]) {
      expect(planned([changed], [summary(1, a)])).toEqual([[], ["a"]]);
      expect(planned([a], [summary(1, changed)])).toEqual([[], ["a"]]);
    }
    for (const running of [`${text} `, text.slice(0, -1), ""])
      expect(planned([a], [summary(1, a, { running })])).toEqual([[], ["a"]]);
  });

  it.each([
    ["a few artifacts", 6, 20_000],
    ["many artifacts", 800, 150],
  ])("keeps nobody waiting: %s", async (_what, artifacts, pods) => {
    const one = inPods("a", web, pods);
    const known = summary(1, one);
    const all = Array.from({ length: artifacts }, (_, at) => ({ ...one, name: `a${at}` }));
    const versions = all.map(({ name: each }, id) => ({ ...known, id, name: each }));
    const longest = await leastLongestTurn(50, async () => {
      // What is done before the first wait is not measured.
      await nextTurn();
      const { kept } = await paced(planJudging(all, versions));
      expect(kept.size).toBe(artifacts);
    });
    expect(longest).toBeLessThan(50);
    // However fast the machine is.
    const stops = [...planJudging(all, versions)].length;
    expect(stops).toBeGreaterThan((artifacts * known.running.length) / (128 * 1024));
  });
});

describe("a verdict on the rest", () => {
  const version = (name: string, rules: string): PolicyVersion => ({
    id: name,
    name,
    version: 1,
    policy: parsePolicy(`_schema: https://x.test/v1\nartifacts: ${rules}`),
  });
  const policies = [
    version("known", "{provenance: {required: true}}"),
    version("named", "{provenance: {required: true, exceptions: [{if: \"artifact.name == 'a'\"}]}}"),
  ];
  const everything = [running("a", web), running("b", db), running("c", web), running("d", old)];
  const given = { facts: new Map(), policies, allowed: new Set([old]) };
  const all = judgeRuntime({ running: everything, ...given });
  const summaries = all.artifacts.map(({ running: artifact, compliant, findings }, id) =>
    summary(id, artifact, { compliant, findings: compliant === false ? findings : null }),
  );

  const prints = new Set(everything.map(({ fingerprint }) => fingerprint));
  const textOf = (rules: Pick<RuntimeRules, "policies" | "allowed">): string =>
    finish(judgedBy(rules, prints));

  it("comes to the same as one on everything, whatever was judged before", () => {
    const failing = all.failing_versions.map((places) =>
      places.map((place) => everything[place]!.fingerprint),
    );
    expect(failing).toEqual([
      [web, db],
      [db, web],
    ]);
    for (let chosen = 0; chosen < 2 ** summaries.length; chosen += 1) {
      const known = summaries.filter((_, at) => (chosen & (1 << at)) !== 0);
      const stale = summaries.map((each) => ({ ...each, is_stale: !known.includes(each) }));
      const { kept, toJudge } = finish(planJudging(everything, stale));
      expect(kept.size).toBe(known.length);
      const verdict = judgeRuntime({ running: everything, kept, ...given });
      expect([verdict.state, verdict.failing_versions]).toEqual([all.state, all.failing_versions]);
      expect(verdict.artifacts.map(({ running: each }) => each)).toEqual(toJudge);
    }
  });

  it("names the policies that fail by findings as by decisions", () => {
    for (const { findings, verdict } of all.artifacts) {
      const failed = verdict.policy_decisions.filter(({ status }) => status === "NON-COMPLIANT");
      expect(failingPolicies(findings)).toEqual(failed.map(({ policy_name }) => policy_name));
    }
  });

  it("is unknown without policies", () => {
    const none = { ...given, policies: [] };
    const unknown = summaries.map((each) => ({ ...each, compliant: null, findings: null }));
    const { kept } = finish(planJudging(everything, unknown));
    expect(kept.has(artifactKey(everything[0]!))).toBe(true);
    expect(judgeRuntime({ running: everything, kept, ...none }).state).toBe(null);
  });

  it("rests on the versions of policies and on who is trusted", () => {
    const texts = [
      textOf(given),
      textOf({ ...given, allowed: new Set() }),
      textOf({ ...given, allowed: new Set([old, web]) }),
      textOf({ ...given, policies: policies.slice(1) }),
      textOf({ ...given, policies: policies.toReversed() }),
      textOf({ ...given, policies: policies.map((each) => ({ ...each, version: 2 })) }),
    ];
    expect(new Set(texts).size).toBe(texts.length);
    expect(textOf({ policies, allowed: new Set([web, old]) })).toBe(texts[2]);
  });

  it("rests on nobody's trust in what does not run", () => {
    const more = Array.from({ length: 1_000 }, (_, at) => `${at}`.padStart(64, "0"));
    expect(textOf({ policies, allowed: new Set([...more, old]) })).toBe(textOf(given));
    expect(textOf({ policies, allowed: new Set(more) })).toBe(textOf({ policies, allowed: new Set() }));
    const all = finish(judgedBy({ policies, allowed: new Set(more) }, new Set(more)));
    expect(all.length).toBeLessThan(textOf({ policies, allowed: new Set() }).length + 100);
  });

  it("is known from before where nothing was trusted, and from nothing else", () => {
    const versions = policies.map(({ id, name, version: number }) => [id, name, number]);
    const former = (trusted: string[]): string => JSON.stringify([documentFormat, versions, trusted]);
    expect(textOf({ policies, allowed: new Set() })).toBe(former([]));
    expect([former([old]), former([])]).not.toContain(textOf(given));
  });
});

describe("the text of what flows know", () => {
  it("is short, and another one for other versions", () => {
    const facts = Array.from({ length: 20 }, (_, at) => ({ version: `version ${at}` }));
    const texts = facts.map((_, count) => factsText(facts.slice(0, count)));
    expect(new Set(texts).size).toBe(texts.length);
    expect(Math.max(...texts.map(({ length }) => length))).toBeLessThanOrEqual(200);
    expect([texts[0], texts[2]]).toEqual(["", "version 0,version 1"]);
  });
});
