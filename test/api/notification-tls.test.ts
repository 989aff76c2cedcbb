import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { ActionFixtures, putEnv } from "../support/actions.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { runPendingJobs } from "../support/jobs.ts";
import { deliveriesOf, happen, inProd, type Json } from "../support/notifications.ts";
import { type Receiver, startMailServer, startReceiver } from "../support/receiver.ts";

let receiver: Receiver;
let plain: Receiver;
let app: TestApp;
beforeAll(async () => {
  receiver = await startReceiver("unknown");
  plain = await startReceiver();
  app = await startTestApp({ WAYBILL_ALLOW_PRIVATE_TARGETS: "1" });
});
afterAll(async () => {
  await app.close();
  await receiver.stop();
  await plain.stop();
});

/** The delivery of something that happened, after its first attempt. */
async function attempted(where: TestApp, target: Json): Promise<Json> {
  const { org } = await new ActionFixtures(where).org();
  expect((await putEnv(org, { targets: [target] })).status).toBe(201);
  await happen(where, org, await inProd(where, org, "ON_COMPLIANT_ENV"));
  await runPendingJobs(where);
  return (await deliveriesOf(org))[0]!;
}

const untrusted = {
  status: "waiting",
  attempts: 1,
  response_status: null,
  error: "The server's certificate is not of an authority that is trusted here",
};

describe("a certificate that nobody knows", () => {
  it("is a failure that a web server is told nothing by", async () => {
    const target = { type: "WEBHOOK", webhook: `${receiver.url}/hook` };
    expect(await attempted(app, target)).toMatchObject(untrusted);
    expect(receiver.received).toEqual([]);
  });

  it.each([
    ["smtps", "at once"],
    ["smtp", "when asked"],
  ] as const)("is a failure that a mail server gets no password by, with %s:", async (scheme, begin) => {
    const login = { user: "waybill", password: "p4ss" };
    const mail = await startMailServer({ login, tls: { identity: "unknown", begin } });
    const mailing = await startTestApp({
      WAYBILL_SMTP_URL: `${scheme}://waybill:p4ss@localhost:${mail.port}`,
      WAYBILL_MAIL_FROM: "waybill@example.org",
    });
    try {
      const target = { type: "EMAIL", emails: ["ann@example.org"] };
      expect(await attempted(mailing, target)).toMatchObject(untrusted);
      expect([mail.logins, mail.received]).toEqual([[], []]);
    } finally {
      await mailing.close();
      await mail.stop();
    }
  });
});

describe("a web server that speaks no TLS", () => {
  it("is a failure that says so", async () => {
    const webhook = plain.url.replace("http:", "https:");
    expect(await attempted(app, { type: "WEBHOOK", webhook })).toMatchObject({
      status: "waiting",
      error: "The server does not speak TLS as we do",
    });
  });
});
