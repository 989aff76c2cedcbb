import { expect } from "vitest";

import type { TestOrg } from "./app.ts";
import { artifactBody, commitOf, fingerprintOf } from "./artifacts.ts";
import { commitInfo } from "./attestations.ts";

/** The fingerprint of a version of `web`. */
export function webOf(version: string): string {
  return fingerprintOf(`web ${version}`);
}

/** Reports that a version of `web` was built in `web-ci`, on the trail `run-<version>`, as `cli` of its template. */
export async function buildWeb(
  org: TestOrg,
  version: string,
  more: Record<string, unknown> = {},
  flow = "web-ci",
): Promise<void> {
  const git_commit = commitOf(version);
  const body = artifactBody({
    fingerprint: webOf(version),
    filename: `web:${version}`,
    trail_name: `run-${version}`,
    template_reference_name: "cli",
    git_commit,
    git_commit_info: commitInfo(git_commit),
    commit_url: `https://git.example.com/shop/web/commit/${git_commit}`,
    ...more,
  });
  const answer = await org.member.post(`/artifacts/${org.name}/${flow}`, body);
  expect([answer.status, answer.text]).toEqual([201, '{"message":"OK"}']);
}

/** A version of `web` as a report of what runs has it. */
export function runningWeb(version: string, name = "web"): { name: string; fingerprint: string } {
  return { name, fingerprint: webOf(version) };
}
