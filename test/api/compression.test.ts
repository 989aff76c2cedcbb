import { once } from "node:events";
import { get } from "node:http";
import { brotliDecompressSync, gunzipSync } from "node:zlib";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { createPolicy, policyText } from "../support/policies.ts";
import { withArtifacts } from "../support/many-artifacts.ts";
import { createEnvironment } from "../support/environments.ts";
import { reportServer } from "../support/snapshots.ts";
import { listen } from "../support/sockets.ts";
import { statementsOf } from "../support/statements.ts";

let app: TestApp;
let org: TestOrg;
let port: number;
beforeAll(async () => {
  app = await startTestApp();
  org = await app.org({ public: true });
  // Some 16 MB.
  await withArtifacts(app, org, { artifacts: 2500, rules: 4, name: `web-${"x".repeat(3000)}` });
  for (const name of ["a", "b", "c"])
    await createPolicy(org, name, policyText(`provenance: {required: true} # ${"why ".repeat(300)}`));
  port = await listen(app);
}, 120_000);
afterAll(() => app.close());

interface Received {
  status: number | undefined;
  headers: Record<string, string | string[] | undefined>;
  /** As it came. */
  bytes: Buffer;
  body: string;
}

const decoders: Record<string, (bytes: Buffer) => Buffer> = { br: brotliDecompressSync, gzip: gunzipSync };

/** Asks over a connection, as nothing but what is said. */
async function ask(path: string, headers: Record<string, string> = {}, method = "GET"): Promise<Received> {
  const asked = get({ host: "127.0.0.1", port, path: `/api/v2${path}`, method, headers });
  const [answer] = await once(asked, "response");
  const pieces: Buffer[] = [];
  for await (const piece of answer) pieces.push(piece as Buffer);
  const bytes = Buffer.concat(pieces);
  const decode = decoders[answer.headers["content-encoding"] ?? ""];
  const isEmpty = bytes.length === 0;
  const body = (decode === undefined || isEmpty ? bytes : decode(bytes)).toString();
  return { status: answer.statusCode, headers: answer.headers, bytes, body };
}

const policies = (): string => `/policies/${org.name}`;
const snapshot = (): string => `/snapshots/${org.name}/prod/-1`;
const log = (): string => `/environments/${org.name}/prod/auditlog`;
const reader = (): Record<string, string> => ({ authorization: `Bearer ${org.reader.key}` });

describe("compression", () => {
  it.each([
    ["a list", policies],
    ["a long answer", snapshot],
    ["a table", log],
  ])("of %s is for who accepts it, and changes no byte of what is said", async (_name, path) => {
    const plain = await ask(path());
    expect(plain.status).toBe(200);
    expect(plain.headers["content-encoding"]).toBeUndefined();
    expect(plain.headers["vary"]).toBe("Accept-Encoding");
    for (const encoding of ["br", "gzip"]) {
      const answer = await ask(path(), { "accept-encoding": encoding });
      expect(answer.headers).toMatchObject({
        "content-encoding": encoding,
        vary: "Accept-Encoding",
        "content-type": plain.headers["content-type"],
      });
      expect(answer.body === plain.body).toBe(true);
      expect(answer.bytes.length).toBeLessThan(plain.bytes.length / 2);
    }
    const neither = await ask(path(), { "accept-encoding": "deflate, zstd" });
    expect(neither.headers["content-encoding"]).toBeUndefined();
    expect(neither.body === plain.body).toBe(true);
  });

  it("sends the pieces of a long answer when they are made", async () => {
    const asked = get({
      host: "127.0.0.1",
      port,
      path: `/api/v2${snapshot()}`,
      headers: { "accept-encoding": "gzip" },
    });
    const [answer] = await once(asked, "response");
    const [first] = await once(answer, "data");
    // Some kilobytes of 16 MB can be read before the rest is there.
    const begun = gunzipSync(first as Buffer, { finishFlush: 2 }).toString();
    expect(begun.startsWith('{"')).toBe(true);
    expect(begun.length).toBeLessThan(1_000_000);
    answer.destroy();
  });

  it("gives the place of a long answer back when its client goes away", async () => {
    const asked = get({
      host: "127.0.0.1",
      port,
      path: `/api/v2${snapshot()}`,
      headers: { "accept-encoding": "br" },
    });
    const [answer] = await once(asked, "response");
    answer.destroy();
    await expect
      .poll(async () => (await app.server.inject({ url: "/metrics" })).body)
      .toMatch(/^waybill_http_long_answers_active 0$/m);
  });

  it("leaves short answers as they are", async () => {
    const plain = await ask(`/organizations/${org.name}`, reader());
    const asked = await ask(`/organizations/${org.name}`, { ...reader(), "accept-encoding": "gzip" });
    expect([asked.headers["content-encoding"], asked.headers["vary"]]).toEqual([undefined, undefined]);
    expect(asked.bytes).toEqual(plain.bytes);
  });

  it("leaves files and archives as they are", async () => {
    const file = `{"rows":"${"x".repeat(5000)}"}`;
    const trail = `${org.name}/ci/run`;
    const attached = await org.member.request("POST", `/attestations/${org.name}/ci/trail/run/generic`, {
      parts: {
        data_json: JSON.stringify({ attestation_name: "notes", is_compliant: true }),
        attachment_file: { filename: "notes.json", content: file },
      },
    });
    expect([attached.status, attached.json.message]).toEqual([201, undefined]);
    const { json } = await org.reader.get(`/attestations/${org.name}?attestation_name=notes`);
    const id = (Array.isArray(json) ? json : json.data)[0].attestation_id as string;
    const download = `/attestations/${org.name}/ci/trail/run/attestation/${id}`;
    for (const path of [`${download}/evidence`, `${download}/audit_package`, `/trails/${trail}/audit_pdf`]) {
      const answer = await ask(path, { "accept-encoding": "gzip, br" });
      expect([path, answer.status, answer.headers["content-encoding"]]).toEqual([path, 200, undefined]);
    }
    expect((await ask(`${download}/evidence`, { "accept-encoding": "br" })).body).toBe(file);
  });

  it("answers HEAD as it would GET", async () => {
    const headers = { "accept-encoding": "gzip", "sec-fetch-dest": "empty" };
    const whole = await ask(policies(), headers);
    const head = await ask(policies(), headers, "HEAD");
    expect(head.bytes).toHaveLength(0);
    expect(head.headers).toMatchObject({
      "content-encoding": "gzip",
      "content-length": String(whole.bytes.length),
      vary: "Accept-Encoding, Authorization, Cookie",
    });
    const long = await ask(snapshot(), headers, "HEAD");
    expect([long.headers["content-encoding"], long.headers["content-length"]]).toEqual(["gzip", undefined]);
  });
});

describe("an answer that may be kept", () => {
  const page = { "sec-fetch-dest": "empty" };

  it("has a tag, by which it is not sent twice", async () => {
    const first = await ask(policies(), page);
    const { etag } = first.headers;
    expect(first.status).toBe(200);
    expect(first.headers).toMatchObject({
      etag: expect.stringMatching(/^W\/"[\w-]{22}"$/),
      "cache-control": "private, no-cache",
      vary: "Accept-Encoding, Authorization, Cookie",
    });
    for (const given of [etag as string, `"other", ${etag as string}`, "*"]) {
      const again = await ask(policies(), { ...page, "if-none-match": given, "accept-encoding": "br" });
      expect([given, again.status, again.bytes.length, again.headers["etag"]]).toEqual([given, 304, 0, etag]);
      expect(again.headers).toMatchObject({
        etag,
        "cache-control": "private, no-cache",
        vary: "Accept-Encoding, Authorization, Cookie",
      });
      expect(again.headers["content-encoding"]).toBeUndefined();
      expect(again.headers["content-length"]).toBeUndefined();
    }
    for (const given of ['W/"other"', etag!.slice(3, -1) as string, ""])
      expect((await ask(policies(), { ...page, "if-none-match": given })).status).toBe(200);
  });

  it("is sent again when it has changed, in its body or in its headers", async () => {
    const list = `/artifacts/${org.name}?flow_name=ci`;
    const [one, total] = await Promise.all([ask(policies(), page), ask(list, page)]);
    await createPolicy(org, "d", policyText("provenance: {required: true}"));
    const changed = await ask(policies(), { "if-none-match": one.headers["etag"] as string });
    expect(changed.status).toBe(200);
    expect(changed.headers["etag"]).not.toBe(one.headers["etag"]);
    expect((await ask(list, { "if-none-match": total.headers["etag"] as string })).status).toBe(304);
  });

  it("answers HEAD with the tag, and with the length of what is not sent", async () => {
    const first = await ask(policies(), page);
    const head = await ask(policies(), { ...page, "if-none-match": first.headers["etag"] as string }, "HEAD");
    expect([head.status, head.bytes.length, head.headers["etag"]]).toEqual([304, 0, first.headers["etag"]]);
    expect(head.headers["content-length"]).toBe(String(first.bytes.length));
  });

  it("is none for programs, which get what they got", async () => {
    const answer = await ask(policies(), reader());
    expect([answer.headers["etag"], answer.headers["cache-control"]]).toEqual([undefined, "no-store"]);
  });

  it("is a snapshot of any length, of which nothing is made for who has it", async () => {
    const first = await ask(snapshot(), page);
    const { etag } = first.headers;
    expect(first.bytes.length).toBeGreaterThan(128 * 1024);
    expect(first.headers).toMatchObject({
      etag: expect.stringMatching(/^W\/"[\w-]{22}"$/),
      "cache-control": "private, no-cache",
      vary: "Accept-Encoding, Authorization, Cookie",
    });
    const known = { ...page, "if-none-match": etag as string };
    let again: Received | undefined;
    const statements = await statementsOf(app, async () => void (again = await ask(snapshot(), known)));
    expect([again?.status, again?.bytes.length, again?.headers["etag"]]).toEqual([304, 0, etag]);
    expect(statements.filter((text) => text.includes("snapshot-documents"))).toEqual([]);
    const head = await ask(snapshot(), known, "HEAD");
    expect([head.status, head.bytes.length]).toEqual([304, 0]);
    for (const other of [`${snapshot()}?rules=once`, `${snapshot()}?max_artifacts=1`])
      expect([other, (await ask(other, known)).status]).toEqual([other, 200]);
  });

  it("is another one when there is a later snapshot, for the one before too", async () => {
    await createEnvironment(org, "stage", { type: "server" });
    await reportServer(org, "stage", ["web"]);
    const [latest, first] = [`/snapshots/${org.name}/stage/-1`, `/snapshots/${org.name}/stage/1`];
    const { etag } = (await ask(latest, page)).headers;
    const known = { ...page, "if-none-match": etag as string };
    expect([(await ask(latest, known)).status, (await ask(first, known)).status]).toEqual([304, 304]);
    await reportServer(org, "stage", ["web", "another"]);
    expect((await ask(latest, known)).body).toContain('"another"');
    const before = await ask(first, known);
    expect(JSON.parse(before.body)).toMatchObject({ index: 1, is_latest: false });
    const settled = { ...page, "if-none-match": before.headers["etag"] as string };
    expect((await ask(first, settled)).status).toBe(304);
    await org.admin.put(`/environments/${org.name}/stage/rename`, { new_name: "staging" });
    // Its address in the answer is another one.
    expect((await ask(first, settled)).body).toContain("/environments/staging/snapshots/1");
  });

  it("is none that is long, a failure, or a secret", async () => {
    const long = await ask(`/env-diff/${org.name}?snappish1=prod%231&snappish2=prod&include=detail`, page);
    const failure = await ask(`/policies/${org.name}/none`, { ...page, "if-none-match": "*" });
    const admin = { ...page, authorization: `Bearer ${org.admin.key}`, "if-none-match": "*" };
    const secret = await ask(`/actions/${org.name}/signing-secret`, admin);
    expect([long.status, failure.status, secret.status]).toEqual([200, 404, 200]);
    for (const { headers } of [long, failure, secret])
      expect([headers["etag"], headers["cache-control"]]).toEqual([undefined, "no-store"]);
  });

  it("is asked for anew by each caller: a tag opens nothing", async () => {
    const hidden = await app.org();
    const own = { authorization: `Bearer ${hidden.reader.key}`, ...page };
    const { etag } = (await ask(`/policies/${hidden.name}`, own)).headers;
    const foreign = { ...reader(), ...page, "if-none-match": etag as string };
    expect((await ask(`/policies/${hidden.name}`, foreign)).status).toBe(403);
    expect((await ask(`/policies/${hidden.name}`, { "if-none-match": "*" })).status).toBe(401);
  });
});
