import { expect, it } from "vitest";

import { repoProviders as serversProviders } from "../../src/contract/reports.ts";
import { runningEndpoints } from "../../src/contract/running.ts";
import { environmentTypes as serversTypes } from "../../src/domain/environments.ts";
import { keyRuleLimits, noRules } from "../../src/domain/key-rules.ts";
import { pictureKinds } from "../../src/domain/provenance-picture.ts";
import { artifactColumns } from "./artifact-columns.ts";
import { environmentTypes } from "./environment-types.ts";
import { provenanceKinds } from "./provenance.ts";
import { repoProviders } from "./repo-providers.ts";
import { ruleLimits } from "./security-rules.ts";

// Pages bring no code of the server along: what they repeat of it has to be the same.

it("environments have the server's types", () => {
  expect(environmentTypes).toEqual(serversTypes);
});

it("repos are searched by all providers that the server knows", () => {
  expect(repoProviders).toEqual(serversProviders);
});

it("pictures of provenance have the server's kinds, in their order", () => {
  expect(provenanceKinds).toEqual(pictureKinds);
});

it("rules for keys have the server's limits", () => {
  expect(ruleLimits).toEqual({
    mostDays: keyRuleLimits.days.max,
    mostWarning: keyRuleLimits.warnDays.max,
    usualWarning: noRules.warn_days,
    mostAddresses: keyRuleLimits.addresses,
  });
});

it("the artifacts of a snapshot have the columns of the server's CSV", () => {
  const columns = artifactColumns.map((column) =>
    typeof column === "string" ? { path: column, isTime: false } : column,
  );
  expect(columns).toEqual(runningEndpoints.list_snapshot_artifacts.responses[200].csv.columns);
});
