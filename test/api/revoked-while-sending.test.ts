import { setTimeout as delay } from "node:timers/promises";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { analysis, deliveriesOf, newHook, pathOf, signatureOf } from "../support/quality-server.ts";
import { head, type RawAnswer, RawConnection } from "../support/raw-connection.ts";
import { listen } from "../support/sockets.ts";

let app: TestApp;
let org: TestOrg;
let port: number;
beforeAll(async () => {
  app = await startTestApp();
  org = await app.org();
  port = await listen(app);
});
afterAll(() => app.close());

/** For longer than what was found out of a caller is believed. */
const believedMs = 1_100;

interface Sent {
  method: string;
  path: string;
  body: string;
  headers: Record<string, string>;
}

/** Sends the first half of a body, has something happen, and sends the rest. */
async function sendAround(
  { method, path, body, headers }: Sent,
  meanwhile: () => Promise<unknown>,
): Promise<RawAnswer> {
  const half = Math.floor(body.length / 2);
  const connection = new RawConnection(port, head(method, path, body.length, headers) + body.slice(0, half));
  try {
    await delay(believedMs);
    await meanwhile();
    connection.write(body.slice(half));
    return await connection.answer();
  } finally {
    connection.destroy();
    await connection.closed;
  }
}

/** Makes a flow of this name with a key. */
const putFlow = (key: string, name: string): Sent => ({
  method: "PUT",
  path: `/flows/${org.name}`,
  body: JSON.stringify({ name, description: "" }),
  headers: { Authorization: `Bearer ${key}` },
});

async function flowNames(): Promise<string[]> {
  return (await org.reader.get(`/flows/${org.name}`)).json.map(({ name }: { name: string }) => name);
}

/** A key of a service account, and a function that revokes it. */
async function leakedKey(account: string): Promise<{ key: string; revoke: () => Promise<void> }> {
  const accounts = `/service-accounts/${org.name}`;
  await org.admin.post(accounts, { name: account, privilege: "member" });
  const keys = `${accounts}/${account}/api-keys`;
  const { id, key } = (await org.admin.post(keys, { description: "leaked" })).json;
  const revoke = async () => expect((await org.admin.delete(`${keys}/${id}`)).status).toBe(200);
  return { key, revoke };
}

const refusal = JSON.stringify({ message: "Invalid or missing credentials" });

describe.concurrent("what arrives slowly", () => {
  it("is written where nothing changes", async () => {
    const answer = await sendAround(putFlow(org.member.key!, "slow"), async () => {});
    expect(answer.status).toBe(201);
    expect(await flowNames()).toContain("slow");
  });

  it("is refused when its key was revoked meanwhile", async () => {
    const { key, revoke } = await leakedKey("ci");
    const answer = await sendAround(putFlow(key, "stolen"), revoke);
    expect([answer.status, answer.body]).toEqual([401, refusal]);
    expect(await flowNames()).not.toContain("stolen");
  });

  it("is refused when its key was revoked meanwhile, with the file that came along", async () => {
    const { key, revoke } = await leakedKey("uploads");
    const data = JSON.stringify({ attestation_name: "scan", is_compliant: true, user_data: {} });
    const part = (name: string, text: string): string =>
      `--b\r\nContent-Disposition: form-data; name="${name}\r\n\r\n${text}\r\n`;
    const body = `${part('data_json"', data)}${part('attachment_file"; filename="a"', "x".repeat(1000))}--b--\r\n`;
    const sent = {
      method: "POST",
      path: `/attestations/${org.name}/stolen-too/trail/run/generic`,
      body,
      headers: { Authorization: `Bearer ${key}`, "Content-Type": "multipart/form-data; boundary=b" },
    };
    const answer = await sendAround(sent, revoke);
    expect([answer.status, answer.body]).toEqual([401, refusal]);
    expect(await flowNames()).not.toContain("stolen-too");
    for await (const kept of app.deps.evidence.list()) expect.unreachable(kept.sha256);
  });

  it("is refused to a member who may less by then, and to who is none any more", async () => {
    const [less, gone] = [await app.user(), await app.user()];
    const pathOfMember = (name: string): string => `/members/${org.name}/${name}`;
    for (const { name } of [less, gone]) await org.admin.put(pathOfMember(name), { role: "member" });
    const answers = await Promise.all([
      sendAround(putFlow(less.key, "less"), () => org.admin.put(pathOfMember(less.name), { role: "reader" })),
      sendAround(putFlow(gone.key, "gone"), () => org.admin.delete(pathOfMember(gone.name))),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([403, 403]);
    const names = await flowNames();
    expect(["less", "gone"].filter((name) => names.includes(name))).toEqual([]);
  });

  it.each([
    ["whose secret was replaced", "POST", "/rotate-secret", 401],
    ["that was switched off", "DELETE", "", 404],
  ])("is refused by a webhook %s meanwhile", async (_what, method, change, status) => {
    const hook = await newHook(app);
    const body = JSON.stringify(analysis());
    const headers = { "X-Quality-Webhook-HMAC-SHA256": signatureOf(hook.secret, body) };
    const answer = await sendAround({ method: "POST", path: pathOf(hook), body, headers }, async () => {
      const path = `/integrations/${hook.org.name}/quality${change}`;
      expect((await hook.org.member.request(method, path)).status).toBe(200);
    });
    expect(answer.status).toBe(status);
    expect(await deliveriesOf(hook.org)).toEqual([]);
  });
});
