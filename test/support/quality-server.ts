import { createHmac, randomBytes } from "node:crypto";

import type { TestApp, TestOrg } from "./app.ts";
import type { Answer, Client } from "./client.ts";
import { runPendingJobs } from "./jobs.ts";

export type Json = Record<string, unknown>;

/** Where a delivery goes and how it is signed. */
export interface Webhook {
  url: string;
  /** Deliveries are not signed without one. */
  secret?: string;
}

/** A task id as analyses have them. */
export function taskId(): string {
  return `AZ${randomBytes(9).toString("base64url")}`;
}

/** A commit that nobody else's analysis has. */
export function commitSha(): string {
  return randomBytes(20).toString("hex");
}

/** What a code-quality server sends after a successful analysis of a commit; `changes` replace top-level fields. */
export function analysis(changes: Json = {}): Json {
  const dashboard = "https://quality.example.org/dashboard?id=shop-api";
  return {
    serverUrl: "https://quality.example.org",
    taskId: taskId(),
    status: "SUCCESS",
    analysedAt: "2026-08-01T10:00:00+0000",
    revision: commitSha(),
    changedAt: "2026-08-01T10:00:00+0000",
    project: { key: "shop-api", name: "Shop API", url: dashboard },
    branch: { name: "main", type: "BRANCH", isMain: true, url: dashboard },
    qualityGate: {
      name: "Team gate",
      status: "OK",
      conditions: [
        { metric: "new_coverage", operator: "LESS_THAN", value: "91.0", status: "OK", errorThreshold: "80" },
        { metric: "new_violations", operator: "GREATER_THAN", status: "NO_VALUE", errorThreshold: "0" },
      ],
    },
    properties: { "sonar.analysis.detectedscm": "git" },
    ...changes,
  };
}

/** An analysis whose scanner was given these parameters, without their prefix. */
export function analysisWith(parameters: Json, changes: Json = {}, prefix = "waybill"): Json {
  const properties = Object.fromEntries(
    Object.entries(parameters).map(([name, value]) => [`sonar.analysis.${prefix}_${name}`, value]),
  );
  return analysis({ ...changes, properties: { "sonar.analysis.detectedscm": "git", ...properties } });
}

/** Lower-case hex HMAC-SHA256 of exactly these bytes. */
export function signatureOf(secret: string, body: string | Buffer): string {
  return createHmac("sha256", secret).update(body).digest("hex");
}

/** The path of a webhook's URL, below `/api/v2`. */
export function pathOf(webhook: Webhook): string {
  return new URL(webhook.url).pathname.replace("/api/v2", "");
}

/**
 * Delivers the way code-quality servers do: compact JSON, the signature in their own header when the webhook has a
 * secret, none of our credentials.
 */
export function deliver(from: Client, webhook: Webhook, payload: unknown): Promise<Answer> {
  const body = typeof payload === "string" ? payload : JSON.stringify(payload);
  const project = (payload as { project?: { key?: unknown } } | null)?.project?.key;
  return from.request("POST", pathOf(webhook), {
    payload: Buffer.from(body, "utf8"),
    headers: {
      "content-type": "application/json; charset=utf-8",
      ...(typeof project === "string" && /^[\x20-\x7e]*$/.test(project)
        ? { "x-sonarqube-project": project }
        : {}),
      ...(webhook.secret === undefined
        ? {}
        : { "x-sonar-webhook-hmac-sha256": signatureOf(webhook.secret, body) }),
    },
  });
}

/** Switches the organization's integration on, and answers what its code-quality server is set up with. */
export async function switchOn(
  org: { name: string; member: Client },
  settings: Json = {},
): Promise<Required<Webhook>> {
  const { json } = await org.member.put(`/integrations/${org.name}/quality`, settings);
  return { url: json.webhook_url, secret: json.secret };
}

/** A webhook that is on, with its organization. */
export interface Hook extends Required<Webhook> {
  org: TestOrg;
}

/** A new organization with its webhook on. */
export async function newHook(app: TestApp, settings: Json = {}): Promise<Hook> {
  const org = await app.org();
  return { org, ...(await switchOn(org, settings)) };
}

/** The organization's newest hundred deliveries as they are listed. */
export async function deliveriesOf(org: TestOrg): Promise<Json[]> {
  const { json } = await org.member.get(`/integrations/${org.name}/quality/deliveries?per_page=100`);
  return json.deliveries;
}

/** Delivers and lets the job run; the delivery as it is listed afterwards. */
export async function processed(app: TestApp, webhook: Hook, payload: Json): Promise<Json> {
  const { json } = await deliver(app.anonymous, webhook, payload);
  if (json.status !== "accepted") throw new Error(`Delivery was ${JSON.stringify(json)}`);
  await runPendingJobs(app);
  return (await deliveriesOf(webhook.org))[0]!;
}

/** What a table has of an organization, oldest first. */
export async function rowsOf(app: TestApp, table: string, org: TestOrg): Promise<Json[]> {
  const { rows } = await app.deps.db.pool.query(`select * from ${table} where org_id = $1 order by id`, [
    org.id,
  ]);
  return rows;
}
