import { afterAll, beforeAll, describe, expect, it } from "vitest";

import {
  certificateFile,
  type MailServer,
  type MailServerOptions,
  type Receiver,
  startMailServer,
  startReceiver,
} from "../support/receiver.ts";
import { withUsedDataDir } from "../support/server-process.ts";
import { ask, form, type Site, startSite, until } from "../support/site.ts";

const login = { user: "waybill", password: "p4ss" };
let receiver: Receiver;
let stranger: Receiver;
const mails: MailServer[] = [];

async function startMail(begin: NonNullable<MailServerOptions["tls"]>["begin"]): Promise<MailServer> {
  const mail = await startMailServer({ login, tls: { identity: "trusted", begin } });
  mails.push(mail);
  return mail;
}

beforeAll(async () => {
  receiver = await startReceiver("trusted");
  stranger = await startReceiver("unknown");
});
afterAll(async () => {
  for (const server of [receiver, stranger, ...mails]) await server.stop();
});

/** A server told to trust an authority of the operator's own, and to send mail there. */
function start(dataDir: string, scheme: string, mail: MailServer): Promise<Site> {
  return startSite(dataDir, {
    NODE_EXTRA_CA_CERTS: certificateFile("trusted"),
    WAYBILL_ALLOW_PRIVATE_TARGETS: "1",
    WAYBILL_SMTP_URL: `${scheme}://${login.user}:${login.password}@localhost:${mail.port}`,
    WAYBILL_MAIL_FROM: "waybill@example.org",
  });
}

/** What became of the newest deliveries of an action, by place of their target, once all were tried. */
async function tried(site: Site, action: number, count: number): Promise<unknown[]> {
  let deliveries: { attempts: number; status: string; error: string | null; target: { position: number } }[] =
    [];
  await until(async () => {
    const path = `/actions/${site.org}/${action}/deliveries?per_page=${count}`;
    ({ deliveries } = await ask(site, "GET", path));
    return deliveries.length === count && deliveries.every(({ attempts }) => attempts > 0);
  });
  return deliveries
    .toSorted((a, b) => a.target.position - b.target.position)
    .map(({ status, error }) => [status, error]);
}

describe("notifications over TLS", () => {
  it(
    "reach web and mail servers whose authority the operator trusts, and nobody else",
    { timeout: 120_000 },
    async () => {
      const [asked, atOnce] = [await startMail("when asked"), await startMail("at once")];
      await withUsedDataDir(async (dataDir) => {
        let site = await start(dataDir, "smtp", asked);
        await ask(site, "PUT", `/flows/${site.org}`, { name: "web", description: "" });
        const webhook = (address: string) => ({ type: "WEBHOOK", webhook: address });
        const action = {
          name: "told",
          flows: ["web"],
          triggers: ["ON_STARTED_TRAIL"],
          targets: [
            webhook(`${receiver.url}/hook`),
            webhook(receiver.url.replace("localhost", "127.0.0.1")),
            webhook(stranger.url),
            { type: "EMAIL", emails: ["ann@example.org"] },
          ],
        };
        await ask(site, "PUT", `/actions/${site.org}/flows`, action);
        await ask(site, "PUT", `/trails/${site.org}/web`, form({ data_json: { name: "one" } }));
        const delivered = ["delivered", null];
        expect(await tried(site, 1, 4)).toEqual([
          delivered,
          ["waiting", "The server's certificate is for another name"],
          ["waiting", "The server's certificate is not of an authority that is trusted here"],
          delivered,
        ]);
        expect(receiver.received.map(({ path, json }) => [path, json.trail.name])).toEqual([
          ["/hook", "one"],
        ]);
        expect(stranger.received).toEqual([]);
        expect(asked.received).toMatchObject([{ user: login.user, secure: true, to: ["ann@example.org"] }]);
        expect(await site.server.stop()).toBe(0);

        site = await start(dataDir, "smtps", atOnce);
        const targets = [{ type: "EMAIL", emails: ["bob@example.org"] }];
        await ask(site, "DELETE", `/actions/${site.org}/1`);
        await ask(site, "PUT", `/actions/${site.org}/flows`, { ...action, targets });
        await ask(site, "PUT", `/trails/${site.org}/web`, form({ data_json: { name: "two" } }));
        expect(await tried(site, 2, 1)).toEqual([delivered]);
        expect(atOnce.received).toMatchObject([{ user: login.user, secure: true, to: ["bob@example.org"] }]);
        expect(await site.server.stop()).toBe(0);
        expect(site.server.output()).not.toContain(login.password);
      });
    },
  );
});
