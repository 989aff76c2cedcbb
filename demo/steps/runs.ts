import { artifactEndpoints, type CreateArtifact } from "../../src/contract/artifacts.ts";
import { attestationEndpoints } from "../../src/contract/attestations.ts";
import { trailEndpoints } from "../../src/contract/trails.ts";
import { eachInParallel } from "../../src/lib/parallel.ts";
import { companyDomain } from "../data/company.ts";
import { releaseFlow } from "../data/flows.ts";
import type { Build, Run } from "../model/builds.ts";
import { checksOf } from "../model/checks.ts";
import { namespaceOf, repoOf } from "../model/flows.ts";
import { concurrency, type Demo } from "../plan.ts";

/** Makes the `repo_info` of the run's repo. */
function repoInfoOf(run: Run) {
  const { id, name, provider, url, description } = repoOf(run.flow);
  return {
    name,
    url,
    provider: provider as "github",
    namespace_path: namespaceOf(name),
    description,
    ...(id === null ? {} : { id }),
  };
}

/** Makes what a pipeline reports about one artifact of a run. */
export function reportOf(run: Run, build: Build): CreateArtifact {
  return {
    fingerprint: build.fingerprint,
    filename: build.filename,
    trail_name: run.trail,
    template_reference_name: build.component.name,
    git_commit: run.commit.sha1,
    git_commit_info: run.commit,
    repo_info: repoInfoOf(run),
    repo_url: repoOf(run.flow).url,
    commit_url: run.commit.url,
    build_url: run.job_url,
  };
}

async function reportChecks({ api, org, seed }: Demo, run: Run): Promise<void> {
  const params = { org, flow_name: run.flow.name, trail_name: run.trail };
  const { tests, pullRequest } = checksOf(seed, run);
  await api.call(attestationEndpoints.post_junit_attestation, {
    params,
    body: {
      attestation_name: "unit-tests",
      origin_url: run.job_url,
      junit_results: [{ name: run.flow.name, errors: 0, ...tests }],
    },
  });
  if (pullRequest === undefined) return;
  await api.call(attestationEndpoints.post_pull_request_attestation, {
    params,
    body: {
      attestation_name: "review",
      git_provider: "github",
      pull_requests: [
        {
          url: `${repoOf(run.flow).url}/pull/${pullRequest}`,
          state: "MERGED",
          merge_commit: run.commit.sha1,
        },
      ],
    },
  });
}

async function reportRun(demo: Demo, run: Run): Promise<void> {
  const { api, org } = demo;
  const params = { org, flow_name: run.flow.name };
  await api.call(trailEndpoints.create_trail, {
    params,
    body: {
      name: run.trail,
      description: run.commit.message,
      git_commit_info: run.commit,
      repo_info: repoInfoOf(run),
      origin_url: run.job_url,
      user_data: { job: run.job, attempt: 1 },
      external_urls: { ticket: { href: `https://tickets.${companyDomain}/HL-${1000 + run.job}` } },
    },
  });
  for (const build of run.builds)
    await api.call(artifactEndpoints.create_artifact, {
      params,
      body: {
        ...reportOf(run, build),
        annotations: { runner: `runner-${1 + (run.job % 7)}` },
        user_data: { job: run.job },
      },
    });
  if (run.builds.length > 0) await reportChecks(demo, run);
}

/** Reports the latest runs as pipelines do: a trail, then artifacts and checks. */
export function reportRuns(demo: Demo, runs: readonly Run[]): Promise<void> {
  return demo.progress.step("Trails and artifacts of today", runs.length, (advance) =>
    eachInParallel(runs, concurrency, async (run) => {
      await reportRun(demo, run);
      advance();
    }),
  );
}

/** Reports releases of some builds: known fingerprints, reported by another flow. @returns how many. */
export function reportReleases(demo: Demo, runs: readonly Run[]): Promise<number> {
  const { api, org } = demo;
  const released = runs.filter((run) => run.builds.length > 0 && run.commit.branch === "main").slice(-6);
  return demo.progress.step("Releases", released.length, async (advance) => {
    for (const [index, run] of released.entries()) {
      const trail = `release-${index + 1}`;
      const params = { org, flow_name: releaseFlow.name };
      await api.call(trailEndpoints.create_trail, {
        params,
        body: { name: trail, description: `${run.flow.name} goes live`, user_data: { approved: true } },
      });
      for (const build of run.builds)
        await api.call(artifactEndpoints.create_artifact, {
          params,
          body: { ...reportOf(run, build), trail_name: trail },
        });
      advance();
    }
    return released.length;
  });
}
