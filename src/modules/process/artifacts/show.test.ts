import { expect, it } from "vitest";

import { artifact } from "../../../../test/support/compliance.ts";
import { emptyTemplate } from "../../../domain/template/model.ts";
import { createLinks } from "../../../lib/links.ts";
import { finish } from "../../../lib/steps.ts";
import type { Stay } from "./read-store.ts";
import { type JudgedArtifact, showArtifact } from "./show.ts";

const id = "11111111-1111-7111-8111-111111110000";

function judged(timestamp: number | null): JudgedArtifact {
  const report = artifact("cli", { artifact_id: id, reported_at: 1100 });
  return {
    row: {
      id,
      flow_id: id,
      flow_name: "ci",
      flow_tags: {},
      trail_id: id,
      trail_name: "run",
      template_reference_name: "cli",
      fingerprint: report.fingerprint,
      filename: "cli",
      description: null,
      git_commit: null,
      git_commit_info: { sha1: "c1", timestamp },
      repo_info: null,
      commit_url: "",
      build_url: "",
      repo_url: null,
      external_urls: null,
      annotations: null,
      user_data: null,
      created_at: 1100,
      created_by_name: "Ann",
    },
    deciding: {
      artifact: report,
      template: emptyTemplate(),
      template_id: id,
      reports: { artifacts: [report], attestations: [] },
      last_modified_at: 1100,
    },
    evidence: { attestations: [], last_reported_at: 1100 },
    details: new Map(),
    describe: (attestation, which) => attestation[which],
  };
}

const stays: Stay[] = [
  { environment_name: "prod", started_at: 1200, started_in: 4, exited_at: 1300, exited_in: 5 },
  { environment_name: "beta", started_at: 1150.5, started_in: 9, exited_at: null, exited_in: null },
  { environment_name: "prod", started_at: 1400, started_in: 7, exited_at: null, exited_in: null },
];
const history = [
  {
    fingerprint: "f1",
    occurred_at: 1100,
    artifact_name: "cli",
    attestation_name: null,
    attestation_type: null,
    is_override: false,
  },
];

function shown(timestamp: number | null) {
  const links = createLinks("http://waybill.test");
  return finish(showArtifact({ links }, { name: "acme" }, judged(timestamp), { history, stays }));
}

it("tells where an artifact runs, where it ran, and when that changed", () => {
  const { running, exited, history: events } = shown(1000);
  expect(running).toEqual([
    { environment_name: "beta", snapshot_index: 9 },
    { environment_name: "prod", snapshot_index: 7 },
  ]);
  expect(exited).toEqual([{ environment_name: "prod", snapshot_index: 5 }]);
  expect(events).toEqual([
    { event: "cli reported", timestamp: 1100 },
    { event: "started running in 'beta'", timestamp: 1150.5 },
    { event: "started running in 'prod'", timestamp: 1200 },
    { event: "stopped running in 'prod'", timestamp: 1300 },
    { event: "started running in 'prod'", timestamp: 1400 },
  ]);
});

it("counts lead times up to the first start in each environment, from the commit's time if it is known", () => {
  expect(shown(1000)).toMatchObject({
    commit_lead_times: { prod: 200, beta: 150.5 },
    build_lead_times: { prod: 100, beta: 50.5 },
  });
  expect(shown(null)).toMatchObject({ commit_lead_times: {}, build_lead_times: { prod: 100 } });
});
