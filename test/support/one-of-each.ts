import { createHash, createHmac } from "node:crypto";

import type { WebSite } from "./web.ts";
import type { OwnOrganization } from "./web-organization.ts";

/** Gives the free texts of things: what a person or a pipeline writes in this place, and addresses. */
export interface Wording {
  /** @param most characters that the place takes. */
  text(place: string, most?: number): string;
  /** What stands where an address is expected, though any text is taken. */
  address(place: string, most?: number): string;
  /** Further free texts by name. */
  record(place: string): Record<string, string>;
}

/** Names of what was made. */
export interface OneOfEach {
  env: string;
  archivedEnv: string;
  flow: string;
  archivedFlow: string;
  trail: string;
  fingerprint: string;
  sha: string;
  repo: string;
  /** Ids of attestations, of each kind one, by kind. */
  attestations: Readonly<Record<string, string>>;
  policy: string;
  control: string;
  archivedControl: string;
  type: string;
  account: string;
  keyId: string;
  space: string;
  invited: string;
  member: string;
}

const sha = "1".repeat(40);
const fingerprint = createHash("sha256").update("one of each").digest("hex");
const template =
  "version: 1\ntrail:\n  attestations:\n    - {name: ticket, type: generic}\n  artifacts:\n    - name: lamp\n";

function form(field: string, data: object, files: Readonly<Record<string, string>> = {}): FormData {
  const made = new FormData();
  made.append(field, JSON.stringify(data));
  for (const [name, content] of Object.entries(files)) made.append(name, new Blob([content]), `${name}.yml`);
  return made;
}

/** Reports a build with its evidence, of each kind one. */
async function makeProcess({ name: org, ask }: OwnOrganization, { text, address, record }: Wording) {
  const commit = {
    sha1: sha,
    message: text("message"),
    author: text("author"),
    branch: text("branch"),
    timestamp: Math.floor(Date.now() / 1000) - 3600,
    url: address("commit"),
  };
  const repo = {
    name: text("repo", 500),
    id: "1",
    url: address("repo", 2048),
    description: text("repo"),
    provider: "github",
    namespace_path: [text("namespace", 500)],
  };
  const links = Object.fromEntries(
    Object.values(record("link")).map((href, nth) => [
      `link ${nth} ${text("label", 200).replaceAll(/[=.]/g, "")}`,
      { href },
    ]),
  );
  const more = { external_urls: links, user_data: record("user data"), description: text("description") };
  const said = { ...more, origin_url: address("origin") };
  await ask(
    "PUT",
    `/flows/${org}/template_file`,
    form("data_json", { name: "shop-ci", description: text("flow") }, { template_file: template }),
  );
  await ask("PATCH", `/tags/${org}/flow/shop-ci`, { set_tags: { tier: text("tag", 1024) } });
  const trail = { name: "run-1", git_commit_info: commit, repo_info: repo, ...said };
  await ask("PUT", `/trails/${org}/shop-ci`, form("data_json", trail));
  await ask("POST", `/artifacts/${org}/shop-ci`, {
    fingerprint,
    filename: text("artifact"),
    trail_name: "run-1",
    template_reference_name: "lamp",
    git_commit: sha,
    git_commit_info: commit,
    repo_info: repo,
    build_url: address("build"),
    commit_url: address("commit"),
    repo_url: address("repo"),
    annotations: { ...record("annotation"), nested: { deep: record("annotation") } },
    ...more,
  });
  const attestations: Record<string, string> = {};
  const attest = async (kind: string, data: object, file?: string): Promise<void> => {
    const given = {
      attestation_name: kind,
      ...more,
      git_commit_info: commit,
      annotations: record("annotation"),
      ...data,
    };
    const parts = form("data_json", given);
    if (file !== undefined) parts.append("attachment_file", new Blob(["x"]), file);
    const path = `/attestations/${org}/shop-ci/trail/run-1/${kind}`;
    await ask("POST", path, kind === "override" ? given : parts);
    const [latest] = (
      await ask<{ data: { attestation_id: string }[] }>("GET", `/attestations/${org}?per_page=1`)
    ).data;
    attestations[kind] = latest!.attestation_id;
  };
  const issue = {
    id: text("issue"),
    message: text("issue"),
    locations: [{ uri: text("place"), lines: text("lines") }],
  };
  await ask(
    "POST",
    `/custom-attestation-types/${org}`,
    form("data_json", {
      name: "measure",
      description: text("type", 10_000),
      evaluator: { content_type: "jq", rules: [".percent > 1"] },
      summary: [{ name: text("summary", 256), expression: ".said" }],
    }),
  );
  await attest(
    "generic",
    { is_compliant: false, artifact_fingerprint: fingerprint },
    text("file", 200).replaceAll("/", "_"),
  );
  await attest("junit", {
    junit_results: [{ name: text("suite"), failures: 1, errors: 0, skipped: 0, total: 2, duration: 1.5 }],
  });
  await attest("snyk", {
    snyk_results: {
      tool: { name: text("tool"), version: text("version") },
      results: [{ low_count: 0, medium_count: 0, high_count: 1, high: [issue] }],
    },
  });
  await attest("sonar", {
    sonar_results: {
      analysedAt: "2026-08-01T10:00:00+0000",
      revision: sha,
      project: { name: text("project"), key: text("project"), url: address("project") },
      qualityGate: {
        name: text("gate"),
        status: text("status"),
        conditions: [
          {
            metric: text("metric"),
            errorThreshold: text("limit"),
            operator: text("operator"),
            status: "ERROR",
            value: text("value"),
          },
        ],
      },
    },
  });
  await attest("jira", {
    jira_results: [
      {
        issue_id: text("ticket"),
        issue_url: address("ticket"),
        issue_exists: true,
        issue_fields: { summary: text("ticket") },
      },
    ],
  });
  await attest("pull_request", {
    git_provider: "github",
    pull_requests: [
      {
        url: address("change"),
        state: text("state"),
        title: text("title"),
        author: text("author"),
        approvers: [text("approver")],
      },
    ],
  });
  await attest("custom", {
    type_name: "measure",
    attestation_data: { percent: 5, said: text("data"), deep: record("data") },
  });
  await attest("system", {
    type_name: "decision",
    control: "HL-1",
    attestation_data: { is_compliant: true, ...record("decision") },
  });
  await attest("override", {
    attestation_name: "generic",
    artifact_fingerprint: fingerprint,
    reason: text("reason"),
    new_compliance_status: true,
    original_attestation_type: "generic",
  });
  await ask("PUT", `/flows/${org}`, { name: "old-ci", description: text("flow") });
  await ask("PUT", `/flows/${org}/old-ci/archive`);
  return { repo: repo.name, attestations };
}

/** Reports what runs, judged by a policy, told to somebody. */
async function makeRuntime({ name: org, ask, putPolicy }: OwnOrganization, { text, address }: Wording) {
  for (const name of ["prod", "old"])
    await ask("PUT", `/environments/${org}`, { name, type: "K8S", description: text("environment", 10_000) });
  await ask("PATCH", `/tags/${org}/environment/prod`, { set_tags: { stage: text("tag", 1024) } });
  await putPolicy(
    "known",
    `_schema: https://x.test/v1\n# ${text("comment").replaceAll(/[^ -~]/g, " ")}\nartifacts:\n  provenance:\n    required: true\n`,
  );
  await ask("POST", `/environments/${org}/prod/policies`, { policy_names: ["known"] });
  await ask("PUT", `/allowlists/${org}/prod`, {
    artifact_name: text("artifact", 500),
    artifact_fingerprint: "b".repeat(64),
    description: text("reason", 10_000),
  });
  await ask("PUT", `/actions/${org}/environments`, {
    name: "tell",
    environments: ["prod"],
    triggers: ["ON_STARTED_ARTIFACT"],
    targets: [{ type: "EMAIL", emails: ["on-call@one.example"] }],
  });
  const pod = (name: string, digests: Record<string, string>) => ({
    podName: text(name, 4096),
    namespace: text("namespace", 4096),
    digests,
    creationTimestamp: Math.floor(Date.now() / 1000) - 600,
  });
  const report = (...artifacts: object[]) =>
    ask("PUT", `/environments/${org}/prod/report/K8S`, { artifacts });
  await report(pod("pod", { [text("image", 4096)]: fingerprint }));
  await report(
    pod("pod", { [text("image", 4096)]: fingerprint }),
    pod("other", { [text("unknown", 4096)]: "c".repeat(64) }),
  );
  await ask("PUT", `/environments/${org}/old/archive`);
  for (const identifier of ["HL-1", "HL-2"])
    await ask("POST", `/controls/${org}`, {
      identifier,
      name: text("control", 500),
      description: text("control", 10_000),
      links: { [text("link", 128)]: address("control", 2048), handbook: "https://handbook.example/" },
    });
  await ask("PATCH", `/tags/${org}/control/HL-1`, { set_tags: { area: text("tag", 1024) } });
  await ask("POST", `/controls/${org}/HL-2/archive`);
}

/** Switches the webhook of scanners on, and calls it. */
async function makeDeliveries(
  { name: org, ask }: OwnOrganization,
  { text, address }: Wording,
): Promise<void> {
  const { webhook_url, secret } = await ask<{ webhook_url: string; secret: string }>(
    "PUT",
    `/integrations/${org}/quality`,
    { flow_name_prefix: text("prefix", 50), flow_name_suffix: "" },
  );
  const body = JSON.stringify({
    taskId: "AZ1",
    status: "SUCCESS",
    analysedAt: "2026-08-01T10:00:00+0000",
    revision: sha,
    project: { key: text("key", 300), name: text("project"), url: address("project") },
    qualityGate: { name: text("gate"), status: "OK", conditions: [] },
  });
  const signature = createHmac("sha256", secret).update(body).digest("hex");
  const sent = await fetch(webhook_url.replace("localhost", "127.0.0.1"), {
    method: "POST",
    headers: { "content-type": "application/json", "x-quality-webhook-hmac-sha256": signature },
    body,
  });
  if (!sent.ok) throw new Error(`the webhook answered ${sent.status}: ${await sent.text()}`);
}

/** Makes a space, an account with a key, an invitation, and a member who accepted one. */
async function makePeople(site: WebSite, { name: org, ask }: OwnOrganization, { text }: Wording) {
  await ask("PATCH", `/organizations/${org}`, {
    display_name: text("organization", 256),
    description: text("organization", 4096),
    public: true,
  });
  const space = text("space", 128).trim();
  await ask("POST", `/spaces/${org}`, { name: space, parent_id: null });
  await ask("POST", `/service-accounts/${org}`, {
    name: "robot",
    description: text("account", 512),
    privilege: "reader",
  });
  const { id: keyId } = await ask<{ id: string }>("POST", `/service-accounts/${org}/robot/api-keys`, {
    description: text("key", 256),
  });
  const member = `${org}.member`;
  const invite = (user: string) =>
    ask<{ token: string }>("POST", `/members/${org}/invitations`, { user, role: "reader" });
  const { token } = await invite(member);
  const accepted = await fetch(`${site.url}/api/v2/invitations/accept`, {
    method: "POST",
    headers: { "content-type": "application/json", "sec-fetch-site": "same-origin" },
    body: JSON.stringify({ token, display_name: text("person", 256) }),
  });
  if (!accepted.ok) throw new Error(`accepting answered ${accepted.status}: ${await accepted.text()}`);
  const invited = `${org}.invited`;
  await invite(invited);
  return { keyId, member, invited, space };
}

/** Fills an organization with one of everything that pages show and act on. */
export async function makeOneOfEach(
  site: WebSite,
  own: OwnOrganization,
  wording: Wording,
): Promise<OneOfEach> {
  const { name: org, ask } = own;
  const process = await makeProcess(own, wording);
  await makeRuntime(own, wording);
  await makeDeliveries(own, wording);
  const people = await makePeople(site, own, wording);
  const flows = await ask<{ data: { name: string }[] }>("GET", `/flows/${org}?archived=true&per_page=1`);
  const { environments } = await ask<{ environments: { name: string }[] }>(
    "GET",
    `/environments/${org}?archived=true&per_page=1`,
  );
  return {
    env: "prod",
    archivedEnv: environments[0]!.name,
    flow: "shop-ci",
    archivedFlow: flows.data[0]!.name,
    trail: "run-1",
    fingerprint,
    sha,
    policy: "known",
    control: "HL-1",
    archivedControl: "HL-2",
    type: "measure",
    account: "robot",
    ...process,
    ...people,
  };
}
