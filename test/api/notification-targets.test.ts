import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

import { ActionFixtures, putEnv } from "../support/actions.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { runPendingJobs } from "../support/jobs.ts";
import { deliveriesOf, happen, inProd } from "../support/notifications.ts";
import { type MailServer, type Receiver, startMailServer, startReceiver } from "../support/receiver.ts";

let app: TestApp;
let bare: TestApp;
let receiver: Receiver;
let mail: MailServer;

beforeAll(async () => {
  receiver = await startReceiver();
  mail = await startMailServer({ login: { user: "waybill", password: "p@ss" } });
  app = await startTestApp({
    WAYBILL_ALLOW_PRIVATE_TARGETS: "1",
    WAYBILL_SMTP_URL: `smtp://waybill:p%40ss@127.0.0.1:${mail.port}`,
    WAYBILL_MAIL_FROM: "Waybill <waybill@example.org>",
  });
  bare = await startTestApp();
});
afterAll(async () => {
  await app.close();
  await bare.close();
  await receiver.stop();
  await mail.stop();
});
beforeEach(() => {
  receiver.received.length = 0;
  mail.received.length = 0;
  mail.refused.clear();
});

const hostile = `<b>&web "1"</b>`;
const facts = {
  snapshot: { index: 7, compliant: true },
  artifact: { name: hostile, fingerprint: "a".repeat(64) },
};

/** Lets an artifact start in an environment that tells these targets of it. */
async function startedWith(where: TestApp, targets: unknown[]): Promise<TestOrg> {
  const { org } = await new ActionFixtures(where).org();
  const answer = await putEnv(org, { triggers: ["ON_STARTED_ARTIFACT"], targets });
  expect(answer.status, answer.text).toBe(201);
  await happen(where, org, await inProd(where, org, "ON_STARTED_ARTIFACT", facts));
  await runPendingJobs(where);
  return org;
}

describe("chat", () => {
  it("gets a text with links, in which names are no markup", async () => {
    const org = await startedWith(app, [{ type: "SLACK", webhook: `${receiver.url}/services/T/B/x` }]);
    const [request] = receiver.received;
    expect(request).toMatchObject({
      path: "/services/T/B/x",
      headers: { "content-type": "application/json" },
    });
    expect(request!.headers["webhook-signature"]).toBeUndefined();
    expect(Object.keys(request!.json)).toEqual(["text"]);
    const lines = String(request!.json.text).split("\n");
    expect(lines[0]).toBe('Artifact &lt;b&gt;&amp;web "1"&lt;/b&gt; started in environment prod');
    expect(lines).toContain(
      `Snapshot: <http://waybill.test/${org.name}/environments/prod/snapshots/7|#7 (COMPLIANT)>`,
    );
    expect(await deliveriesOf(org)).toMatchObject([{ status: "delivered", target: { type: "SLACK" } }]);
  });
});

describe("e-mail", () => {
  const emails = ["ann@example.org", "bob@example.org"];

  it("is handed to the operator's server with credentials, once for all addresses", async () => {
    const org = await startedWith(app, [{ type: "EMAIL", emails }]);
    expect(mail.received).toHaveLength(1);
    const [message] = mail.received;
    expect(message).toMatchObject({ from: "waybill@example.org", to: emails, user: "waybill" });
    const [delivery] = await deliveriesOf(org);
    expect(message!.source).toContain(`Message-ID: <${String(delivery!["id"])}@waybill>`);
    expect(message!.source).toMatch(/^From: Waybill <waybill@example\.org>\r?$/m);
    expect(message!.source).toContain("Auto-Submitted: auto-generated");
    expect(message!.source).toContain("multipart/alternative");
    expect(message!.source).toContain("&lt;b&gt;&amp;web");
    expect(message!.source.slice(message!.source.indexOf("text/html"))).not.toContain("<b>");
    expect(delivery).toMatchObject({ status: "delivered", response_status: null, error: null });
    expect(app.logged()).not.toContain("p@ss");
  });

  it("names the addresses that the server refused, the others have it", async () => {
    mail.refused.add("bob@example.org");
    const org = await startedWith(app, [{ type: "EMAIL", emails }]);
    expect(mail.received.map(({ to }) => to)).toEqual([["ann@example.org"]]);
    expect(await deliveriesOf(org)).toMatchObject([
      { status: "delivered", error: "The mail server refused bob@example.org" },
    ]);
  });

  it("is tried again when the server takes it for nobody", async () => {
    mail.refused.add("ann@example.org").add("bob@example.org");
    const org = await startedWith(app, [{ type: "EMAIL", emails }]);
    expect(await deliveriesOf(org)).toMatchObject([
      { status: "waiting", attempts: 1, error: "The mail server refused sender or recipients" },
    ]);
  });

  it("fails while no server is configured", async () => {
    const org = await startedWith(bare, [{ type: "EMAIL", emails }]);
    expect(await deliveriesOf(org)).toMatchObject([
      { status: "waiting", error: "No mail server is configured" },
    ]);
  });

  it("fails with wrong credentials, and says so without them", async () => {
    const stranger = await startTestApp({
      WAYBILL_SMTP_URL: `smtp://waybill:wr0ng@127.0.0.1:${mail.port}`,
      WAYBILL_MAIL_FROM: "waybill@example.org",
    });
    try {
      const org = await startedWith(stranger, [{ type: "EMAIL", emails }]);
      expect(await deliveriesOf(org)).toMatchObject([
        { status: "waiting", error: "The mail server refused our credentials" },
      ]);
      expect(stranger.logged()).not.toContain("wr0ng");
    } finally {
      await stranger.close();
    }
  });
});

describe("private networks", () => {
  it("are not called by an action saved while that was allowed", async () => {
    const { org } = await new ActionFixtures(bare).org();
    const targets = [{ type: "WEBHOOK", webhook: "https://hooks.example.com/x" }];
    await putEnv(org, { triggers: ["ON_STARTED_ARTIFACT"], targets });
    const secrets = bare.deps.secrets.seal(JSON.stringify([`${receiver.url}/inside`]));
    await bare.deps.db.pool.query("update actions set target_secrets = $1 where org_id = $2", [
      secrets,
      org.id,
    ]);
    await happen(bare, org, await inProd(bare, org, "ON_STARTED_ARTIFACT", facts));
    await runPendingJobs(bare);
    expect(receiver.received).toEqual([]);
    expect(await deliveriesOf(org)).toMatchObject([
      { status: "waiting", error: "URL should not lead to a private network" },
    ]);
  });

  it("have their secrets sealed with the key in force, or get nothing", async () => {
    const { org } = await new ActionFixtures(app).org();
    await putEnv(org, { triggers: ["ON_STARTED_ARTIFACT"] });
    const foreign = bare.deps.secrets.seal(JSON.stringify([receiver.url]));
    await app.deps.db.pool.query("update actions set target_secrets = $1 where org_id = $2", [
      foreign,
      org.id,
    ]);
    await happen(app, org, await inProd(app, org, "ON_STARTED_ARTIFACT", facts));
    await runPendingJobs(app);
    expect(await deliveriesOf(org)).toMatchObject([
      { status: "waiting", error: "The target was sealed with another secret key" },
    ]);
  });
});
