import { expect } from "vitest";

import { AppError } from "../../src/domain/errors.ts";
import type { Actor } from "../../src/domain/principal.ts";
import { issueAccountKeyByName } from "../../src/modules/identity/service-accounts/key-service.ts";
import { setUserDisabled } from "../../src/modules/identity/users/service.ts";
import { envAction, flowAction } from "./actions.ts";
import type { TestApp, TestOrg, TestUser } from "./app.ts";
import { artifactBody, fingerprintOf, repoInfo } from "./artifacts.ts";
import { jq, partsOf } from "./attestation-types.ts";
import { attest } from "./attestations.ts";
import type { Answer } from "./client.ts";
import { createControl } from "./controls.ts";
import { createEnvironment } from "./environments.ts";
import { putFlow, putTrail } from "./flows.ts";
import { createPolicy, policyText, putPolicy } from "./policies.ts";
import { trySignIn } from "./sessions.ts";
import { reportServer } from "./snapshots.ts";

/** Names of what one round is about, which no other has. */
export interface Round {
  app: TestApp;
  /** Another for each round. */
  nth: number;
  org: TestOrg;
  /** A server in the logical environment, which the action watches. */
  env: string;
  group: string;
  flow: string;
  policy: string;
  type: string;
  control: string;
  account: string;
  guest: TestUser;
  /** Wire ids of what was made. */
  space: string;
  key: string;
  /** The key itself. */
  value: string;
  action: string;
}

/** A write, or what takes something away. */
export type Operation = (round: Round) => Promise<Answer | undefined>;

const operator: Actor = {
  kind: "system",
  id: null,
  name: "operator",
  api_key_id: null,
  action: "test",
  request_id: "test",
  request_digest: null,
};

/** Does what a command does, which has no answer. A refusal is an answer as good as any. */
async function byCommand(work: () => Promise<unknown>): Promise<undefined> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
  }
  return undefined;
}

const environments = ({ org }: Round) => `/environments/${org.name}`;
const flows = ({ org }: Round) => `/flows/${org.name}`;
const account = ({ org, account: name }: Round) => `/service-accounts/${org.name}/${name}`;
const oneKey = (round: Round) => `${account(round)}/api-keys/${round.key}`;
const artifact = fingerprintOf("web");

/** What takes something away from those who write to it: removing, archiving, renaming. */
export const removals: Record<string, Operation> = {
  "an environment is archived": (r) => r.org.admin.put(`${environments(r)}/${r.env}/archive`),
  "an environment is renamed": (r) =>
    r.org.admin.put(`${environments(r)}/${r.env}/rename`, { new_name: `${r.env}-new` }),
  "a logical environment is archived": (r) => r.org.admin.put(`${environments(r)}/${r.group}/archive`),
  "a flow is archived": (r) => r.org.admin.put(`${flows(r)}/${r.flow}/archive`),
  "a flow is renamed": (r) => r.org.admin.put(`${flows(r)}/${r.flow}/rename`, { new_name: `${r.flow}-new` }),
  "a type is archived": ({ org, type }) =>
    org.admin.put(`/custom-attestation-types/${org.name}/${type}/archive`),
  "a control is archived": ({ org, control }) => org.admin.post(`/controls/${org.name}/${control}/archive`),
  "a space is deleted": ({ org, space }) => org.admin.delete(`/spaces/${org.name}/${space}`),
  "an action is deleted": ({ org, action }) => org.admin.delete(`/actions/${org.name}/${action}`),
  "an account is removed": (r) => r.org.admin.delete(account(r)),
  "a key is revoked": (r) => r.org.admin.delete(oneKey(r)),
  "a member is removed": ({ org, guest }) => org.admin.delete(`/members/${org.name}/${guest.name}`),
  "a user is disabled": ({ app, guest }) =>
    byCommand(() => setUserDisabled(app.deps, operator, { user: guest.name, disabled: true })),
};

const ofEnvironment: Record<string, Operation> = {
  "a snapshot is reported": ({ org, env }) => reportServer(org, env, ["web", "db"]),
  "policies are attached": (r) =>
    r.org.admin.post(`${environments(r)}/${r.env}/policies`, { policy_names: [r.policy] }),
  "policies are put": (r) =>
    r.org.admin.put(environments(r), {
      name: r.env,
      type: "server",
      description: "",
      policies: [r.policy],
    }),
  "an artifact is allowed": ({ org, env }) =>
    org.admin.put(`/allowlists/${org.name}/${env}`, {
      artifact_name: "web",
      artifact_fingerprint: artifact,
      description: "",
    }),
  "it is tagged": ({ org, env }) =>
    org.admin.patch(`/tags/${org.name}/environment/${env}`, { set_tags: { tier: "one" } }),
  "it joins a group": (r) =>
    r.org.admin.put(`${environments(r)}/${r.group}/join`, { physical_env_name: r.env }),
  "a group is given members": (r) =>
    r.org.admin.patch(`${environments(r)}/${r.group}`, { included_environments: [r.env] }),
  "a group is put": (r) =>
    r.org.admin.put(environments(r), {
      name: r.group,
      type: "logical",
      description: "new",
      included_environments: [r.env],
    }),
  "an action is made": ({ org, env }) =>
    org.admin.put(`/actions/${org.name}/environments`, envAction({ environments: [env] })),
  "it moves into a space": (r) => r.org.admin.patch(`${environments(r)}/${r.env}`, { space_id: r.space }),
  "a limit of silence is set": (r) =>
    r.org.admin.put(`${environments(r)}/${r.env}/silence`, { limit_seconds: 3600 }),
  "a policy changes": ({ org, policy }) =>
    putPolicy(org.admin, org.name, { name: policy }, policyText("provenance: {required: false}")),
  "its name is taken": (r) =>
    r.org.admin.put(environments(r), { name: r.env, type: "server", description: "another" }),
  "it comes out of the archive": (r) => r.org.admin.put(`${environments(r)}/${r.env}/unarchive`),
};

const ofFlow: Record<string, Operation> = {
  "a trail begins": ({ org, flow }) => putTrail(org.member, `${org.name}/${flow}`, { name: "next" }),
  "an artifact is reported": ({ org, flow }) =>
    org.member.post(
      `/artifacts/${org.name}/${flow}`,
      artifactBody({ fingerprint: fingerprintOf(flow), trail_name: "run", repo_info: repoInfo("acme/web") }),
    ),
  "an attestation is reported": ({ org, flow }) =>
    attest(org.member, { org: org.name, flow }, "generic", { attestation_name: "unit", is_compliant: true }),
  "it is tagged": ({ org, flow }) =>
    org.admin.patch(`/tags/${org.name}/flow/${flow}`, { set_tags: { tier: "one" } }),
  "it is put": ({ org, flow }) =>
    putFlow(org.admin, org.name, { name: flow, description: "new" }, "version: 1"),
  "an action is made": ({ org, flow }) =>
    org.admin.put(`/actions/${org.name}/flows`, flowAction({ flows: [flow] })),
  "it moves into a space": (r) => r.org.admin.patch(`${flows(r)}/${r.flow}`, { space_id: r.space }),
  "it comes out of the archive": (r) => r.org.admin.put(`${flows(r)}/${r.flow}/unarchive`),
};

export const ofAccount: Record<string, Operation> = {
  "a key is made": (r) => r.org.admin.post(`${account(r)}/api-keys`, { description: "new" }),
  "a key is made by a command": (r) =>
    byCommand(() =>
      issueAccountKeyByName(
        r.app.deps,
        { org: r.org, actor: operator },
        { name: r.account, description: "new", created_by_name: "operator" },
      ),
    ),
  "a key is rotated": (r) => r.org.admin.post(`${oneKey(r)}/rotate`, { grace_period_hours: 1 }),
  "a session begins": ({ app, value }) => trySignIn(app, { api_key: value }),
  "it is changed": (r) => r.org.admin.patch(account(r), { description: "new", privilege: "reader" }),
  "it is made": ({ org, account: name }) =>
    org.admin.post(`/service-accounts/${org.name}`, { name, privilege: "member" }),
};

const ofGuest: Record<string, Operation> = {
  "they become a member": ({ org, guest }) =>
    org.admin.put(`/members/${org.name}/${guest.name}`, { role: "admin" }),
  "they sign in": ({ app, guest }) => trySignIn(app, { api_key: guest.key }),
  "they make a key": ({ guest }) => guest.client.post("/user/api-keys", { description: "own" }),
  "they invite somebody": ({ org, guest }) =>
    guest.client.post(`/members/${org.name}/invitations`, { user: `${guest.name}-friend`, role: "reader" }),
  "they prefer it": ({ org, guest }) => guest.client.put(`/user/${org.name}`),
  "they make an account": ({ org, guest }) =>
    guest.client.post(`/service-accounts/${org.name}`, { name: `${guest.name}-robot`, privilege: "reader" }),
};

/** What is taken away, and what is written meanwhile that refers to it. */
export const pairs: [string, Record<string, Operation>][] = [
  ["an environment is archived", ofEnvironment],
  ["an environment is renamed", ofEnvironment],
  ["a logical environment is archived", ofEnvironment],
  ["a space is deleted", { ...ofEnvironment, ...ofFlow }],
  ["a flow is archived", ofFlow],
  ["a flow is renamed", ofFlow],
  [
    "a type is archived",
    {
      "it is used": ({ org, flow, type }) =>
        attest(org.member, { org: org.name, flow }, "custom", {
          attestation_name: "measure",
          type_name: type,
          attestation_data: { percent: 5 },
        }),
      "it is posted": ({ org, type }) =>
        org.admin.request("POST", `/custom-attestation-types/${org.name}`, {
          parts: partsOf({ name: type, evaluator: jq(".percent > 2") }),
        }),
    },
  ],
  [
    "a control is archived",
    {
      "it is tagged": ({ org, control }) =>
        org.admin.patch(`/tags/${org.name}/control/${control}`, { set_tags: { area: "one" } }),
      "it is edited": ({ org, control }) =>
        org.admin.put(`/controls/${org.name}/${control}`, { name: "new" }),
      "it comes back": ({ org, control }) => org.admin.post(`/controls/${org.name}/${control}/unarchive`),
    },
  ],
  [
    "an action is deleted",
    {
      "it is replaced": ({ org, action, env }) =>
        org.admin.put(`/organizations/${org.name}/environments_notifications/${action}`, {
          ...envAction({ environments: [env], name: "other" }),
        }),
      "it fires": ({ org, env }) => reportServer(org, env, ["web", "cache"]),
      "what it watches is archived": removals["an environment is archived"]!,
    },
  ],
  ["an account is removed", ofAccount],
  ["a key is revoked", ofAccount],
  ["a member is removed", ofGuest],
  ["a user is disabled", ofGuest],
];

let rounds = 0;

/** Makes what the next round is about. */
export async function arrange(app: TestApp, org: TestOrg): Promise<Round> {
  rounds += 1;
  const named = (what: string) => `${what}-${rounds}`;
  const round = {
    app,
    nth: rounds,
    org,
    env: named("env"),
    group: named("group"),
    flow: named("flow"),
    policy: named("policy"),
    type: named("type"),
    control: named("control"),
    account: named("account"),
    guest: await app.user(),
  };
  await createEnvironment(org, round.env, { type: "server" });
  await Promise.all([
    createEnvironment(org, round.group, { type: "logical", included_environments: [round.env] }),
    putTrail(org.member, `${org.name}/${round.flow}`, { name: "run" }),
    createPolicy(org, round.policy),
    createControl(org, round.control),
    org.admin.request("POST", `/custom-attestation-types/${org.name}`, {
      parts: partsOf({ name: round.type }),
    }),
    org.admin.put(`/members/${org.name}/${round.guest.name}`, { role: "admin" }),
    org.admin.post(`/service-accounts/${org.name}`, { name: round.account, privilege: "member" }),
  ]);
  await reportServer(org, round.env, ["web"]);
  const space = await org.admin.post(`/spaces/${org.name}`, { name: named("space") });
  const key = await org.admin.post(`/service-accounts/${org.name}/${round.account}/api-keys`, {
    description: "x",
  });
  const action = envAction({ name: named("action"), environments: [round.env] });
  expect((await org.admin.put(`/actions/${org.name}/environments`, action)).status).toBe(201);
  const [{ number }] = (await org.admin.get(`/actions/${org.name}`)).json;
  return {
    ...round,
    space: space.json.id,
    key: key.json.id,
    value: key.json.key,
    action: String(number),
  };
}
