import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";

import { text, texts } from "../../src/db/row.ts";
import { param, query, sql } from "../../src/db/sql.ts";
import type { ArtifactReport, TrailReports } from "../../src/domain/compliance/model.ts";
import { artifactPlace, artifactPlacesInSteps, trailPlace } from "../../src/domain/compliance/places.ts";
import type { Template } from "../../src/domain/template/model.ts";
import { finish } from "../../src/lib/steps.ts";
import {
  countsForArtifact,
  countsInPlace,
  placesOfArtifact,
  placesOfAttestation,
} from "../../src/modules/process/compliance/places-sql.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { artifact, attestation } from "../support/compliance.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const name = fc.constantFrom("a", "b", "1");
const fingerprint = fc.constantFrom("f1", "f2");
const commit = fc.option(fc.constantFrom("c1", "c2", "r1234"));

/** How a table has the commit of an artifact: one that clients cannot show is in the information about it alone. */
const kept = ({ git_commit, ...rest }: ArtifactReport) =>
  git_commit === "r1234"
    ? { ...rest, git_commit: null, git_commit_info: { sha1: git_commit } }
    : { ...rest, git_commit, git_commit_info: git_commit === null ? null : { sha1: "of the branch" } };

/** Whatever is on a trail: artifacts again and again under any name, attestations of what is there and what is not. */
const anyReports: fc.Arbitrary<TrailReports> = fc.record({
  artifacts: fc.array(
    fc.record({ name, fingerprint, git_commit: commit }).map(({ name, ...rest }) => artifact(name, rest)),
    { maxLength: 5 },
  ),
  attestations: fc.array(
    fc
      .record({
        artifact_fingerprint: fc.option(fingerprint),
        target_artifacts: fc.option(fc.array(name, { maxLength: 3 })),
        git_commit: commit,
      })
      .map((rest) => attestation("unit", "junit", rest)),
    { maxLength: 8 },
  ),
});

const template: Template = {
  version: 1,
  trail: { attestations: [], artifacts: ["a", "c"].map((name) => ({ name, attestations: [] })) },
};

const idsOf = (reports: readonly { attestation_id: string }[]): string[] =>
  reports.map(({ attestation_id }) => attestation_id).sort();

/** The reports as the tables that fragments are about. */
function tablesOf({ artifacts, attestations }: TrailReports) {
  const [these, those] = [param(JSON.stringify(artifacts.map(kept))), param(JSON.stringify(attestations))];
  return sql`artifacts as (
      select * from json_to_recordset(${these}::json)
        as r (artifact_id text, template_reference_name text, fingerprint text, git_commit text, git_commit_info json)
    ), attestations as (
      select * from json_to_recordset(${those}::json)
        as a (attestation_id text, artifact_fingerprint text, target_artifacts text[], git_commit text)
    )`;
}

const counting = { id: text, by_condition: texts, by_heads: texts, by_place: texts };

/** Ids of the attestations that count for each artifact: by one condition, by where they are kept, and place by place. */
function countedInSql(reports: TrailReports) {
  return app.deps.db.all(query(counting)`
    with ${tablesOf(reports)}
    select r.artifact_id as id,
      array(select a.attestation_id from attestations a where ${countsForArtifact("a", "r")}) as by_condition,
      array(select a.attestation_id from attestations a
        cross join lateral ${placesOfAttestation("a")} kept
        join ${placesOfArtifact("r")} as p (kind, place) on p.kind = kept.kind and p.place = kept.place) as by_heads,
      array(select a.attestation_id from ${placesOfArtifact("r")} as p (kind, place)
        join attestations a on ${countsInPlace("p.kind", "a", "r")}) as by_place
    from artifacts r`);
}

/** Ids of the attestations kept in places of one kind, by the place. */
function keptInSql(reports: TrailReports, kind: string) {
  return app.deps.db.all(query({ place: text, ids: texts })`
    with ${tablesOf(reports)}
    select kept.place, array_agg(a.attestation_id) as ids
    from attestations a cross join lateral ${placesOfAttestation("a")} kept
    where kept.kind = ${kind} group by kept.place`);
}

it("attestations count for the same artifacts in SQL and in the domain", { timeout: 60_000 }, async () => {
  const countedInDomain = (reports: TrailReports, one: ArtifactReport): string[] =>
    idsOf([...trailPlace(template, reports).reports, ...artifactPlace(template, reports, one).reports]);
  await fc.assert(
    fc.asyncProperty(anyReports, async (reports) => {
      const counted = new Map((await countedInSql(reports)).map((row) => [row.id, row] as const));
      for (const one of reports.artifacts) {
        const expected = countedInDomain(reports, one);
        const { by_condition, by_heads, by_place } = counted.get(one.artifact_id)!;
        expect([by_condition.sort(), by_heads.sort(), by_place.sort()]).toEqual([
          expected,
          expected,
          expected,
        ]);
      }
    }),
    { numRuns: 300 },
  );
});

it(
  "attestations are kept where the domain counts them while their artifact is missing",
  { timeout: 60_000 },
  async () => {
    await fc.assert(
      fc.asyncProperty(anyReports, async (reports) => {
        const waiting = new Map((await keptInSql(reports, "name")).map(({ place, ids }) => [place, ids]));
        for (const { name, artifact: reported, reports: counted } of finish(
          artifactPlacesInSteps(template, reports),
        ))
          if (reported === undefined) expect((waiting.get(name) ?? []).sort()).toEqual(idsOf(counted));
        const [onTrail] = await keptInSql(reports, "trail");
        expect((onTrail?.ids ?? []).sort()).toEqual(idsOf(trailPlace(template, reports).reports));
      }),
      { numRuns: 200 },
    );
  },
);
