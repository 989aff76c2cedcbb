import { createHash } from "node:crypto";

import { form, send } from "../api.ts";
import { type Figure, measure, type Setting } from "../measure.ts";
import { attestedArtifact, processOrgs } from "../process-data.ts";
import { atLeast, below, figureOf, ratioOf, type Scenario } from "../scenario.ts";

const reports = "attestations: generic ones reported, each durable";
const byFingerprint = "attestations: of an artifact by name, of 2,000,000";
const byFingerprintOfFew = "attestations: the same of 20,000";
const trail = "trail: with 50 attestations and 20 artifacts";
const flows = "flows: 50 of 1,000, by name, with their latest state";
const activeFlows = "flows: 50 of 1,000, by latest activity";
const failed = "attestations: search, 50 that do not comply, of 2,000,000";
const byCommit = "attestations: of a commit, of 2,000,000";

const names = Array.from({ length: 20 }, (_, index) => `part-${index + 1}`);
const fingerprintOf = (name: string): string => createHash("sha256").update(`bench ${name}`).digest("hex");

const template = `version: 1
trail:
  attestations:
${Array.from({ length: 10 }, (_, index) => `    - {name: gate-${index + 1}, type: generic}`).join("\n")}
  artifacts:
${names.map((name) => `    - {name: ${name}, attestations: [{name: unit, type: generic}, {name: scan, type: generic}]}`).join("\n")}
`;

/** Reports a whole release: everything its template expects. @returns the trail's path. */
async function reportRelease(setting: Setting): Promise<string> {
  const [org, flow, run] = [processOrgs.reports, "release", `run-${Date.now()}`];
  const flowData = form("data_json", { name: flow, description: "Many parts" }, { template_file: template });
  await send(setting, "PUT", `/api/v2/flows/${org}/template_file`, flowData);
  const sha1 = createHash("sha1").update(run).digest("hex");
  const git_commit_info = { sha1, message: "Release", author: "Ines Falk", branch: "main", timestamp: 1.7e9 };
  const repo_info = { name: "harborlight/release", url: "https://git.harborlight.example/release" };
  for (const name of names) {
    const artifact = {
      fingerprint: fingerprintOf(name),
      filename: `${name}:1`,
      template_reference_name: name,
      trail_name: run,
      git_commit: sha1,
      build_url: "https://ci.harborlight.example/1",
      commit_url: `https://git.harborlight.example/release/${sha1}`,
    };
    const body = JSON.stringify({ ...artifact, git_commit_info, repo_info });
    await send(setting, "POST", `/api/v2/artifacts/${org}/${flow}`, body);
  }
  const attest = (attestation_name: string, more: object): Promise<number> => {
    const data = { attestation_name, is_compliant: true, git_commit_info, repo_info, user_data: {}, ...more };
    const path = `/api/v2/attestations/${org}/${flow}/trail/${run}/generic`;
    return send(setting, "POST", path, form("data_json", data));
  };
  for (let number = 1; number <= 10; number += 1) await attest(`gate-${number}`, {});
  for (const name of names)
    for (const check of ["unit", "scan"]) await attest(check, { artifact_fingerprint: fingerprintOf(name) });
  return `/api/v2/trails/${org}/${flow}/${run}`;
}

function artifactsOf(org: string): { path: string; others: string[] } {
  const [path, ...others] = Array.from({ length: 500 }, (_, index) => attestedArtifact(org, index + 1));
  return { path: path!, others };
}

async function measureReads(setting: Setting): Promise<Figure[]> {
  const { large, small } = processOrgs;
  const figures = await measure(setting, { scenario: trail, path: await reportRelease(setting) }, [1, 16]);
  figures.push(...(await measure(setting, { scenario: byFingerprint, ...artifactsOf(large) }, [1, 16])));
  figures.push(...(await measure(setting, { scenario: byFingerprintOfFew, ...artifactsOf(small) }, [1])));
  const page = `/api/v2/flows/${large}?per_page=50`;
  figures.push(...(await measure(setting, { scenario: flows, path: page }, [1, 16])));
  const byActivity = `${page}&sort=latest_activity&sort_direction=desc`;
  figures.push(...(await measure(setting, { scenario: activeFlows, path: byActivity }, [16])));
  const search = `/api/v2/attestations/${large}`;
  const failures = { scenario: failed, path: `${search}?is_compliant=false&per_page=50` };
  figures.push(...(await measure(setting, failures, [1])));
  const commit = createHash("sha256").update(`${large}/4711`).digest("hex").slice(0, 40);
  const ofCommit = {
    scenario: byCommit,
    path: `${search}/list_attestations_for_criteria?commit_list=${commit}`,
  };
  figures.push(...(await measure(setting, ofCommit, [1])));
  return figures;
}

/** The scenario of attestations, trails and flows: what pipelines report, and what people read. */
export const processScenario: Scenario = {
  name: "process",
  run: async (setting) => {
    const figures = await measureReads(setting);
    const reporting = {
      scenario: reports,
      path: `/api/v2/attestations/${processOrgs.reports}`,
      report: "attestation" as const,
    };
    figures.push(...(await measure(setting, reporting, [1, 64])));
    const at64 = figureOf(figures, reports, 64).own;
    const many = figureOf(figures, byFingerprint, 1).own.p50;
    const few = figureOf(figures, byFingerprintOfFew, 1).own.p50;
    return {
      figures,
      verdicts: [
        atLeast("attestations reported at 64 connections", at64.throughput, 3000, "/s"),
        below("attestations reported at 64 connections, p99", at64.p99, 60, " ms"),
        below(
          "trail of 50 attestations and 20 artifacts, p50",
          figureOf(figures, trail, 1).own.p50,
          5,
          " ms",
        ),
        below("attestations of an artifact, p50", many, 3, " ms"),
        below("attestations of an artifact, 2,000,000 against 20,000", many / few, 1.3, " times as slow"),
        atLeast(
          "flows list, share of bare node:http at 16 connections",
          ratioOf(figureOf(figures, flows, 16)),
          0.4,
        ),
        atLeast(
          "flows by latest activity, share of bare node:http at 16",
          ratioOf(figureOf(figures, activeFlows, 16)),
          0.4,
        ),
      ],
    };
  },
};
