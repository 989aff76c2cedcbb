import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { pictureWords, provenanceKinds, type ProvenanceNode, shortWords, shownNodes } from "./provenance.ts";

const node = (kind: ProvenanceNode["kind"], more: Partial<ProvenanceNode> = {}): ProvenanceNode => ({
  id: `${kind} ${more.label ?? ""}`,
  kind,
  label: kind,
  verdict: null,
  html_url: "https://waybill.example/x",
  missing: false,
  ...more,
});

describe("the provenance picture", () => {
  it("has something in each rank, in reading order, and loses nothing", () => {
    const nodes = fc.array(
      fc.constantFrom(...provenanceKinds).map((kind) => node(kind)),
      { maxLength: 30 },
    );
    fc.assert(
      fc.property(nodes, (given) => {
        const shown = shownNodes(given);
        const ranks = shown.map(({ kind }) => provenanceKinds.indexOf(kind));
        expect(ranks).toEqual(ranks.toSorted((a, b) => a - b));
        expect(new Set(ranks).size).toBe(provenanceKinds.length);
        expect(shown.filter(({ html_url }) => html_url !== undefined)).toHaveLength(given.length);
      }),
    );
  });

  it("shows what is missing as missing, and judges no commit", () => {
    const shown = shownNodes([
      node("commit"),
      node("attestation", { label: "sonar", missing: true }),
      node("attestation", { label: "+ 31", missing: true, verdict: "NON-COMPLIANT", count: 31 }),
    ]);
    expect(shown.find(({ kind }) => kind === "commit")?.verdict).toBeUndefined();
    expect(shown.find(({ label }) => label === "sonar")).toMatchObject({
      verdict: "missing",
      isMissing: true,
    });
    expect(shown.find(({ count }) => count === 31)?.verdict).toBe("non-compliant");
    expect(shown.find(({ kind }) => kind === "environment")).toMatchObject({
      words: "Runs nowhere now",
      html_url: undefined,
    });
  });

  it("says in words what it shows", () => {
    const nodes = shownNodes([
      node("commit"),
      node("trail"),
      node("attestation"),
      node("attestation", { label: "b", missing: true }),
      node("environment", { count: 4 }),
    ]);
    expect(pictureWords(nodes)).toBe(
      "From 1 commit on 1 trail; 1 attestation, 1 missing; runs in 4 environments",
    );
    expect(pictureWords(shownNodes([]))).toBe("From 0 commits on 0 trails; 0 attestations; runs nowhere now");
  });

  it("names a trail by its flow and itself, and an artifact without where it is kept", () => {
    const [, trail, artifact] = shownNodes([
      node("trail", { label: `api-ci/${"5f0c2a1".padEnd(40, "0")}` }),
      node("artifact", { label: "registry.example/team/api:1.2" }),
    ]);
    expect(trail).toMatchObject({ words: "api-ci", detail: "5f0c2a1" });
    expect(artifact).toMatchObject({ words: "api:1.2", label: "registry.example/team/api:1.2" });
  });

  it("shortens digests alone", () => {
    expect(shortWords(`api/${"5f0c2a1".padEnd(40, "0")}`)).toBe("api/5f0c2a1");
    expect(shortWords("api/release-2")).toBe("api/release-2");
  });
});
