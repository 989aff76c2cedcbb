import { Agent, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { attest } from "../support/attestations.ts";

let app: TestApp;
let org: TestOrg;
beforeAll(async () => {
  app = await startTestApp();
  org = await app.org();
  await app.server.listen({ host: "127.0.0.1", port: 0 });
});
afterAll(() => app.close());

const boundary = "b-1";
const data = JSON.stringify({
  attestation_name: "unit",
  is_compliant: true,
  user_data: { big: "x".repeat(9_000) },
});
const field = `--${boundary}\r\ncontent-disposition: form-data; name="data_json"\r\n\r\n`;
const file = `\r\n--${boundary}\r\ncontent-disposition: form-data; name="attachment_file"; filename="a.txt"\r\n\r\nhello`;
const end = `\r\n--${boundary}--\r\n`;

/** Sends forms one after the other on one connection, each in one piece or its head first. @returns statuses and answers. */
async function sendOnOne(key: string, forms: readonly (string | [head: string, rest: string])[]) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const { port } = app.server.server.address() as AddressInfo;
  const answers: [number | undefined, string][] = [];
  const ports = new Set<number | undefined>();
  for (const form of forms) {
    const pieces = typeof form === "string" ? [form] : form;
    const sent = request({
      agent,
      port,
      host: "127.0.0.1",
      method: "POST",
      path: `/api/v2/attestations/${org.name}/web-ci/trail/run/generic`,
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": `multipart/form-data; boundary=${boundary}`,
        "content-length": Buffer.byteLength(pieces.join("")),
      },
    });
    sent.write(pieces[0]);
    if (pieces.length > 1) setTimeout(() => sent.end(pieces[1]), 100);
    else sent.end();
    const answer = await new Promise<IncomingMessage>((resolve, reject) =>
      sent.once("response", resolve).once("error", reject),
    );
    ports.add(answer.socket.localPort);
    answers.push([answer.statusCode, await text(answer)]);
  }
  agent.destroy();
  expect(ports.size).toBe(1);
  return answers;
}

it("are read the same, however they are written and whenever they arrive", async () => {
  const { key, id } = await app.user();
  await app.deps.db.pool.query(
    "insert into memberships (org_id, user_id, role, created_at) values ($1, $2, 'member', now())",
    [org.id, id],
  );
  const answers = await sendOnOne(key, [
    field + data + end,
    field + data + file + end,
    field + data + end,
    [field + data.slice(0, 40), data.slice(40) + end],
    `${field}{"attestation_name":${end}`,
    field + end,
    field + data,
    `before\r\n${field}${data}${end}`,
  ]);
  expect(answers.map(([status]) => status)).toEqual([201, 201, 201, 201, 400, 400, 400, 201]);
  expect(answers[4]![1]).toContain("Invalid JSON: Syntax error");

  // Injected requests are read by the library.
  const body = JSON.parse(data) as Record<string, unknown>;
  await attest(org.member, { org: org.name }, "generic", body);
  const { rows } = await app.deps.db.pool.query<{ digest: string; weight: number }>(
    `select encode(l.request_digest, 'hex') as digest, length(a.user_data::text) as weight
    from audit_log l join attestations a on a.org_id = l.org_id and wire_id(a.id) = l.resource
    where l.org_id = $1 order by l.seq`,
    [org.id],
  );
  expect(rows).toHaveLength(6);
  expect(new Set(rows.map(({ weight }) => weight)).size).toBe(1);
  expect(rows[2]).toEqual(rows[0]);
  expect(rows[3]).toEqual(rows[0]);
  expect(rows[4]).toEqual(rows[0]);
});
