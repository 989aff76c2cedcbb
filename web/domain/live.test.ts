import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { type Topic, topics } from "../../src/domain/changes.ts";
import { isTouchedBy } from "./live.ts";

describe("a change", () => {
  it.each([
    ["GET /environments/{org}", {}, { topic: "environment", name: "prod" }, true],
    [
      "GET /environments/{org}/{env_name}",
      { env_name: "prod" },
      { topic: "environment", name: "prod" },
      true,
    ],
    [
      "GET /environments/{org}/{env_name}",
      { env_name: "test" },
      { topic: "environment", name: "prod" },
      false,
    ],
    ["GET /environments/{org}/{env_name}", { env_name: "test" }, { topic: "environment", name: null }, true],
    ["GET /organizations/{org}/overview", {}, { topic: "environment", name: "prod" }, true],
    ["GET /policies/{org}", {}, { topic: "trail", name: "web-ci/1" }, false],
    ["GET /trails/{org}", {}, { topic: "trail", name: "web-ci/1" }, true],
    ["GET /members/{org}", {}, { topic: "member", name: "ann" }, true],
  ] as const)("makes %s %j be read again after %j: %s", (operation, params, change, expected) =>
    expect(isTouchedBy(operation, { params }, change)).toBe(expected),
  );
});

/** All reads that pages ask for, with the topics whose state they show; `all` for what shows everything that is written. */
const shown: Readonly<Record<string, readonly Topic[] | "all">> = {
  "/actions/{org}": ["action", "delivery"],
  "/actions/{org}/{action_number}": ["action", "delivery"],
  "/actions/{org}/{action_number}/deliveries": ["action", "delivery"],
  "/actions/{org}/{action_number}/deliveries/{delivery_id}": ["action", "delivery"],
  "/allowlists/{org}": ["allow_list"],
  "/artifacts/{org}": ["environment", "flow", "trail", "artifact"],
  "/artifacts/{org}/{flow_name}/fingerprint/{fingerprint}": ["environment", "flow", "trail", "artifact"],
  "/artifacts/{org}/{flow_name}/fingerprint/{fingerprint}/explain": [
    "environment",
    "flow",
    "trail",
    "artifact",
  ],
  "/asserts/{org}/fingerprint/{fingerprint}": ["environment", "trail", "artifact", "policy", "allow_list"],
  "/attestations/{org}": ["trail", "artifact"],
  "/attestations/{org}/list_attestations_for_criteria": ["trail", "artifact"],
  "/audit-log/{org}": "all",
  "/builds/{org}": ["artifact", "repo"],
  "/builds/{org}/statistics": ["artifact", "repo"],
  "/controls/{org}": ["policy", "control"],
  "/controls/{org}/tags": ["policy", "control"],
  "/controls/{org}/{identifier}": ["policy", "control"],
  "/controls/{org}/{identifier}/coverage": ["environment", "policy", "control"],
  "/controls/{org}/{identifier}/decisions": ["trail", "policy", "control"],
  "/controls/{org}/{identifier}/versions": ["policy", "control"],
  "/custom-attestation-types/{org}": ["attestation_type"],
  "/custom-attestation-types/{org}/{custom_attestation_type_name}": ["attestation_type"],
  "/deployments/{org}": ["environment", "repo"],
  "/env-diff/{org}": ["environment"],
  "/environments/{org}": ["environment", "policy", "allow_list", "space"],
  "/environments/{org}/{env_name}": ["environment", "policy", "allow_list", "space"],
  "/environments/{org}/{env_name}/events": ["environment", "policy", "allow_list", "space"],
  "/environments/{org}/{env_name}/explain": [
    "environment",
    "trail",
    "artifact",
    "policy",
    "allow_list",
    "space",
  ],
  "/environments/{org}/{env_name}/silence": ["environment", "policy", "allow_list", "space"],
  "/events/{org}": ["environment"],
  "/flows/{org}": ["flow", "trail", "artifact", "space"],
  "/flows/{org}/{flow_name}": ["flow", "trail", "artifact", "space"],
  "/flows/{org}/{flow_name}/statistics": ["flow", "trail", "artifact", "space"],
  "/integrations/{org}": ["delivery", "integration"],
  "/integrations/{org}/quality/deliveries": ["delivery", "integration"],
  "/integrations/{org}/quality/deliveries/{delivery_id}": ["delivery", "integration"],
  "/members/{org}": ["member"],
  "/members/{org}/invitations": ["member"],
  "/members/{org}/{user}/sessions": ["member"],
  "/membership-audit-log/{org}": ["member"],
  "/organizations/{org}": ["organization"],
  "/organizations/{org}/compliance-history": ["environment", "organization"],
  "/organizations/{org}/overview": ["environment", "flow", "trail", "organization"],
  "/organizations/{org}/security": ["organization"],
  "/policies/{org}": ["environment", "policy"],
  "/policies/{org}/{policy_name}": ["environment", "policy"],
  "/provenance/{org}/{fingerprint}": ["environment", "trail", "artifact"],
  "/repos/{org}": ["artifact", "repo"],
  "/repos/{org}/filter-options": ["artifact", "repo"],
  "/repos/{org}/live-artifacts/{repo_name...}": ["environment", "artifact", "repo"],
  "/repos/{org}/{repo_name...}": ["artifact", "repo"],
  "/repos/{org}/{repo}/deployment-statistics": ["environment", "artifact", "repo"],
  "/repos/{org}/{repo}/deployments": ["environment", "artifact", "repo"],
  "/running/{org}": ["environment", "allow_list"],
  "/search/{org}/sha/{search_value}": ["environment", "trail", "artifact"],
  "/service-accounts/{org}": ["service_account"],
  "/service-accounts/{org}/{name}/api-keys": ["service_account"],
  "/snapshots/{org}/{env_name}": ["environment", "allow_list"],
  "/snapshots/{org}/{env_name}/{snapshot_expression}": ["environment", "allow_list"],
  "/snapshots/{org}/{env_name}/{snapshot_expression}/artifacts": ["environment", "allow_list"],
  "/spaces/{org}": ["space"],
  "/tags/{org}/{resource_type}": ["environment"],
  "/trails/{org}": ["environment", "flow", "trail", "artifact"],
  "/trails/{org}/{flow_name}": ["environment", "flow", "trail", "artifact"],
  "/trails/{org}/{flow_name}/{trail_name}": ["environment", "flow", "trail", "artifact"],
  "/trails/{org}/{flow_name}/{trail_name}/explain": ["environment", "flow", "trail", "artifact"],
  // Nothing is told of the reader and the installation; names are chosen from while somebody writes.
  "/health": [],
  "/instance/audit-log": [],
  "/instance/backups": [],
  "/instance/security": [],
  "/user/api-keys": [],
  "/user/identities": [],
  "/user/sessions": [],
  "/search/{org}": [],
};

/** Finds the reads that pages ask for in their sources. */
function readsOfPages(): Set<string> {
  const web = join(import.meta.dirname, "..");
  const files = ["pages", "parts", "shell"]
    .flatMap((folder) =>
      readdirSync(join(web, folder), { recursive: true, encoding: "utf8" }).map((file) =>
        join(web, folder, file),
      ),
    )
    .filter((file) => /(?<!\.test)\.tsx?$/.test(file));
  const asked = /\bask(?:WithHeaders)?\(\s*"GET ([^"]+)"/g;
  return new Set(
    files.flatMap((file) => [...readFileSync(file, "utf8").matchAll(asked)].map(([, path]) => path!)),
  );
}

describe("what pages show", () => {
  it.each([...readsOfPages()].toSorted())("of %s is read again when it changes", (path) => {
    const expected = shown[path];
    const touching = topics.filter((topic) => isTouchedBy(`GET ${path}`, {}, { topic, name: null }));
    expect(touching).toEqual(
      expected === "all" ? topics : topics.filter((topic) => expected?.includes(topic)),
    );
    expect(expected, "says what it shows").toBeDefined();
  });
});
