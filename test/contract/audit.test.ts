import { integer, text } from "../../src/db/row.ts";
import { identifier, query } from "../../src/db/sql.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import type { Endpoint } from "../../src/contract/endpoint.ts";
import { endpoints } from "../../src/contract/index.ts";
import { envAction, flowAction } from "../support/actions.ts";
import { startTestApp, type TestApp, type TestOrg, type TestUser } from "../support/app.ts";
import { artifactBody } from "../support/artifacts.ts";
import { attest } from "../support/attestations.ts";
import type { Answer } from "../support/client.ts";
import { runPendingJobs } from "../support/jobs.ts";
import { putPolicy, samplePolicy } from "../support/policies.ts";
import { fromSite, signIn } from "../support/sessions.ts";
import { uniqueName } from "../support/unique-name.ts";

let app: TestApp;
let org: TestOrg;
let root: TestUser;
let other: TestUser;
/** Transactions of the test's own set-up, which records nothing. */
let setUp: Set<string>;

/**
 * Every table that holds records, but for what is derived from others or says nothing about them, and for what became
 * of messages to others, which is a log of its own.
 */
async function tables(): Promise<string[]> {
  const rows = await app.deps.db.all(query({ name: text })`
    select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind = 'r'
      and relname not in ('migrations', 'audit_log', 'notification_deliveries', 'action_target_outcomes')`);
  return rows.map(({ name }) => name);
}

/** Transactions that wrote what is there now. */
async function writersOf(names: string[]): Promise<Map<string, string>> {
  const writers = new Map<string, string>();
  for (const name of names) {
    const rows = await app.deps.db.all(query({ xid: text })`
      select distinct xmin::text as xid from ${identifier(name)}`);
    for (const { xid } of rows) writers.set(xid, name);
  }
  return writers;
}

beforeAll(async () => {
  app = await startTestApp({}, { maintained: true });
  org = await app.org();
  root = await app.user({ instance_admin: true });
  other = await app.user();
  setUp = new Set((await writersOf(await tables())).keys());
});
afterAll(() => app.close());

type Walk = Record<string, () => Promise<Answer>>;

/** Creates an environment of each kind and reports on it. */
function reports(): Walk {
  const items: Record<string, Record<string, unknown>> = {
    K8S: { podName: "p", namespace: "n" },
    ECS: { taskArn: "arn" },
    S3: {},
    lambda: {},
    server: {},
    docker: {},
    "azure-apps": { app_name: "a", app_kind: "k", digests_source: "acr" },
    "cloud-run": { kind: "job", jobName: "j" },
  };
  const report = (type: string, item: Record<string, unknown>) => async (): Promise<Answer> => {
    const env = `runs-${type}`;
    await org.admin.put(`/environments/${org.name}`, { name: env, type, description: "" });
    const digests = { web: "a".repeat(64) };
    return org.admin.put(`/environments/${org.name}/${env}/report/${type}`, {
      artifacts: [{ digests, creationTimestamp: 1, ...item }],
    });
  };
  return Object.fromEntries(
    Object.entries(items).map(([type, item]) => [
      `${type.toLowerCase().replace("-", "_")}_report`,
      report(type, item),
    ]),
  );
}

/** Calls every write endpoint so that it changes something, each building on those before it. */
function walk(): Walk {
  const { name, admin } = org;
  const self = root.client;
  const made: Record<string, string> = {};
  const remember = (what: string, answer: Answer, read: (json: Answer["json"]) => string): Answer => {
    made[what] = read(answer.json);
    return answer;
  };
  const account = `/service-accounts/${name}/robot`;
  const notifications = `/organizations/${name}/environments_notifications`;
  const hooked = async (path: string, taskId: string): Promise<Answer> =>
    admin.post(`${path}/${made["hook"]}`, {
      taskId,
      status: "SUCCESS",
      analysedAt: "2026-01-01T00:00:00+0000",
      revision: "c".repeat(40),
      project: { key: "shop", name: "Shop", url: "https://quality.example.com" },
      qualityGate: { name: "Way", status: "OK", conditions: [] },
      properties: {},
    });
  const attested = (kind: string, body: Record<string, unknown>): Promise<Answer> =>
    attest(admin, { org: name, flow: "web", trail: "t1" }, kind, { attestation_name: kind, ...body });
  return {
    create_organization: () => self.post("/organizations", { name: uniqueName("made") }),
    update_organization: () => admin.patch(`/organizations/${name}`, { description: "changed" }),
    update_experimental_features: () =>
      admin.put(`/organizations/${name}/experimental_features`, { experimental_features_enabled: true }),
    put_user_default_org: () => admin.put(`/user/${name}`),
    put_organization_security: () => admin.put(`/organizations/${name}/security`, { unused_days: 90 }),
    put_instance_security: () => self.put("/instance/security", { warn_days: 7 }),
    create_user_api_key: async () =>
      remember("key", await self.post("/user/api-keys", { description: "x" }), ({ id }) => id as string),
    create_user_session: async () =>
      remember(
        "session",
        await self.request("POST", "/user/sessions", { json: { api_key: root.key }, headers: fromSite }),
        ({ session }) => session.id as string,
      ),
    delete_user_session: () => self.delete(`/user/sessions/${made["session"]}`),
    delete_user_sessions: async () => {
      await signIn(app, root.key);
      return self.delete("/user/sessions");
    },
    delete_current_user_session: async () => (await signIn(app, root.key)).delete("/user/sessions/current"),
    delete_user_api_key: () => self.delete(`/user/api-keys/${made["key"]}`),
    put_member: () => admin.put(`/members/${name}/${other.name}`, { role: "reader" }),
    delete_member_sessions: async () => {
      await signIn(app, other.key);
      return admin.delete(`/members/${name}/${other.name}/sessions`);
    },
    delete_member: () => admin.delete(`/members/${name}/${other.name}`),
    create_invitation: async () =>
      remember(
        "invitation",
        await admin.post(`/members/${name}/invitations`, { user: uniqueName("guest"), role: "reader" }),
        ({ id }) => id as string,
      ),
    delete_invitation: () => admin.delete(`/members/${name}/invitations/${made["invitation"]}`),
    accept_invitation: async () => {
      const guest = { user: uniqueName("guest"), role: "reader" };
      const { token } = (await admin.post(`/members/${name}/invitations`, guest)).json;
      return admin.request("POST", "/invitations/accept", { json: { token }, headers: fromSite });
    },
    create_service_account: () =>
      admin.post(`/service-accounts/${name}`, { name: "robot", privilege: "member" }),
    update_service_account: () => admin.patch(account, { description: "changed" }),
    create_service_account_api_key: async () =>
      remember(
        "robot",
        await admin.post(`${account}/api-keys`, { description: "x" }),
        ({ id }) => id as string,
      ),
    rotate_service_account_api_key: async () =>
      remember(
        "robot",
        await admin.post(`${account}/api-keys/${made["robot"]}/rotate`, { grace_period_hours: 1 }),
        ({ id }) => id as string,
      ),
    delete_service_account_api_key: () => admin.delete(`${account}/api-keys/${made["robot"]}`),
    delete_service_account: () => admin.delete(account),
    create_env: async () => {
      await admin.put(`/environments/${name}`, { name: "all", type: "logical", description: "" });
      return admin.put(`/environments/${name}`, { name: "prod", type: "K8S", description: "" });
    },
    ...reports(),
    update_env: () => admin.patch(`/environments/${name}/prod`, { description: "changed" }),
    join_physical_to_logical: () =>
      admin.put(`/environments/${name}/all/join`, { physical_env_name: "prod" }),
    create_space: async () =>
      remember("space", await admin.post(`/spaces/${name}`, { name: "team" }), ({ id }) => id as string),
    update_space: () => admin.patch(`/spaces/${name}/${made["space"]}`, { name: "crew" }),
    patch_tags: () => admin.patch(`/tags/${name}/environment/prod`, { set_tags: { tier: "1" } }),
    create_flow: () => admin.put(`/flows/${name}`, { name: "old", description: "" }),
    create_flow_with_template: () =>
      admin.request("PUT", `/flows/${name}/template_file`, {
        parts: { data_json: JSON.stringify({ name: "web", description: "" }) },
      }),
    update_flow: () => admin.patch(`/flows/${name}/old`, { space_id: made["space"] }),
    rename_flow: () => admin.put(`/flows/${name}/old/rename`, { new_name: "older" }),
    create_trail: () =>
      admin.request("PUT", `/trails/${name}/web`, { parts: { data_json: JSON.stringify({ name: "t1" }) } }),
    create_artifact: () => admin.post(`/artifacts/${name}/web`, artifactBody({ trail_name: "t1" })),
    create_or_update_env_action: () => admin.put(`/actions/${name}/environments`, envAction()),
    create_or_update_flow_action: () =>
      admin.put(
        `/actions/${name}/flows`,
        flowAction({ targets: [{ type: "EMAIL", emails: ["ops@example.org"] }] }),
      ),
    replay_notification_delivery: async () => {
      await admin.request("PUT", `/trails/${name}/web`, {
        parts: { data_json: JSON.stringify({ name: "t2" }) },
      });
      const list = await admin.get(`/actions/${name}/2/deliveries`);
      return admin.post(`/actions/${name}/2/deliveries/${list.json.deliveries[0].id}/replay`);
    },
    rotate_signing_secret: () => admin.post(`/actions/${name}/signing-secret/rotate`),
    put_environment_notifications: () => admin.put(notifications, envAction({ name: "second" })),
    update_environment_notification: () => admin.put(`${notifications}/1`, envAction({ name: "third" })),
    delete_environment_notification: () => admin.delete(`${notifications}/1`),
    delete_action: () => admin.delete(`/actions/${name}/2`),
    put_quality_integration: async () =>
      remember("hook", await admin.put(`/integrations/${name}/quality`, {}), ({ webhook_url }) =>
        String(webhook_url).replace(/.*\//, ""),
      ),
    rotate_quality_integration_secret: () => admin.post(`/integrations/${name}/quality/rotate-secret`),
    quality_webhook: () => hooked("/webhooks/quality", "t-1"),
    sonar_qube_webhook: () => hooked("/webhooks/sonar", "t-2"),
    replay_quality_delivery: async () => {
      const list = await admin.get(`/integrations/${name}/quality/deliveries`);
      return admin.post(`/integrations/${name}/quality/deliveries/${list.json.deliveries[0].id}/replay`);
    },
    delete_quality_integration: () => admin.delete(`/integrations/${name}/quality`),
    post_custom_attestation_type: () =>
      admin.request("POST", `/custom-attestation-types/${name}`, {
        parts: { data_json: JSON.stringify({ name: "coverage" }) },
      }),
    post_custom_attestation: () =>
      attested("custom", { type_name: "coverage", attestation_data: { line: 90 } }),
    post_generic_attestation: () => attested("generic", { is_compliant: true }),
    post_junit_attestation: () => attested("junit", { junit_results: [] }),
    post_jira_attestation: () => attested("jira", { jira_results: [] }),
    post_snyk_attestation: () =>
      attested("snyk", { snyk_results: { tool: { name: "scanner", version: "1" }, results: [] } }),
    post_sonar_attestation: () =>
      attested("sonar", {
        sonar_results: { analysedAt: "now", revision: "r", project: { key: "k", url: "https://q.test" } },
      }),
    post_pull_request_attestation: () =>
      attested("pull_request", { git_provider: "github", pull_requests: [] }),
    post_system_attestation: () =>
      attested("system", {
        type_name: "decision",
        control: "CTL-1",
        attestation_data: { is_compliant: true },
      }),
    post_override_attestation: () =>
      attested("override", {
        reason: "known",
        new_compliance_status: true,
        original_attestation_type: "generic",
      }),
    archive_custom_attestation_type: () => admin.put(`/custom-attestation-types/${name}/coverage/archive`),
    post_control: () => admin.post(`/controls/${name}`, { identifier: "CTL-1", name: "Review" }),
    put_environment_silence: async () => {
      await admin.put(`/environments/${name}`, { name: "quiet", type: "server", description: "" });
      return admin.put(`/environments/${name}/quiet/silence`, { limit_seconds: 600 });
    },
    put_control: () => admin.put(`/controls/${name}/CTL-1`, { name: "Reviewed" }),
    archive_control: () => admin.post(`/controls/${name}/CTL-1/archive`),
    unarchive_control: () => admin.post(`/controls/${name}/CTL-1/unarchive`),
    check_flow_template: () => admin.post(`/flows/${name}/template/check`, { template: "version: 1" }),
    try_custom_attestation_type: () =>
      admin.post(`/custom-attestation-types/${name}/try`, { rules: [".a"], payload: { a: true } }),
    put_policy: () => putPolicy(admin, name, { name: "base" }, samplePolicy),
    preview_policy: () =>
      admin.request("POST", `/policies/${name}/preview`, {
        parts: { data_json: "{}", policy_file: { filename: "p", content: samplePolicy } },
      }),
    attach_policy_to_env: () => admin.post(`/environments/${name}/prod/policies`, { policy_names: ["base"] }),
    detach_policy_from_env: () =>
      admin.delete(`/environments/${name}/prod/policies`, { policy_names: ["base"] }),
    allow_artifact_for_env: () =>
      admin.put(`/allowlists/${name}/prod`, {
        artifact_name: "cache",
        artifact_fingerprint: "a".repeat(64),
        description: "known",
      }),
    disallow_artifact_for_env: () => admin.delete(`/allowlists/${name}/prod/${"a".repeat(64)}`),
    rename_environment: () => admin.put(`/environments/${name}/prod/rename`, { new_name: "live" }),
    archive_env: () => admin.put(`/environments/${name}/live/archive`),
    unarchive_env: () => admin.put(`/environments/${name}/live/unarchive`),
    archive_flow: () => admin.put(`/flows/${name}/older/archive`),
    unarchive_flow: async () => {
      const answer = await admin.put(`/flows/${name}/older/unarchive`);
      // The space has to be empty for what follows.
      await admin.patch(`/flows/${name}/older`, { space_id: null });
      return answer;
    },
    delete_space: () => admin.delete(`/spaces/${name}/${made["space"]}`),
  };
}

/** Accepted and without any effect. */
const withoutEffect = new Set([
  "update_experimental_features",
  "preview_policy",
  "check_flow_template",
  "try_custom_attestation_type",
]);

/** What stands in the log of the instance, which has actions of its own. */
const recordedAs: Record<string, string> = { put_instance_security: "settings_changed" };

describe("every write endpoint", () => {
  it("leaves an audit row for each of its changes, in the same transaction", async () => {
    const calls = walk();
    const writes = Object.entries(endpoints as Record<string, Endpoint>).filter(
      ([, { method }]) => method !== "GET",
    );
    expect(Object.keys(calls).sort(), "add the operation to walk() above").toEqual(
      writes.map(([id]) => id).sort(),
    );

    for (const [id, call] of Object.entries(calls)) {
      const answer = await call();
      expect(answer.status, `${id}: ${answer.text}`).toBeLessThan(300);
      const found = await app.deps.db.all(query({ seq: integer })`
        select seq from audit_log where action = ${recordedAs[id] ?? id}`);
      expect([id, found.length > 0]).toEqual([id, !withoutEffect.has(id)]);
    }
    await runPendingJobs(app);

    // Also what was done on the side: nothing is written by a transaction that recorded nothing.
    const recorded = new Set((await writersOf(["audit_log"])).keys());
    const silent = [...(await writersOf(await tables()))].filter(
      ([xid]) => !setUp.has(xid) && !recorded.has(xid),
    );
    expect(silent.map(([, table]) => table)).toEqual([]);
  });
});
