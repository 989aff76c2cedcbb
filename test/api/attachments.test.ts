import { randomBytes } from "node:crypto";

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

import { sha256 } from "../../src/lib/hash.ts";
import { mebibyte } from "../../src/lib/units.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody } from "../support/artifacts.ts";
import { attest } from "../support/attestations.ts";
import type { Answer } from "../support/client.ts";
import { putFlow } from "../support/flows.ts";
import { leastLongestTurn } from "../support/turns.ts";

let app: TestApp;
let org: TestOrg;
let origin: string;
beforeAll(async () => {
  app = await startTestApp();
  origin = await app.server.listen({ port: 0, host: "127.0.0.1" });
});
afterAll(() => app.close());
beforeEach(async () => {
  org = await app.org();
});

const content = '{"results":[]}\r\n';
const digest = sha256(content).toString("hex");

function report(name: string, more: Record<string, unknown> = {}) {
  const data = { attestation_name: name, is_compliant: true, user_data: {}, ...more };
  const parts = {
    attachment_file: { filename: "evidence.json", content },
    data_json: JSON.stringify(data),
  };
  return org.member.request("POST", `/attestations/${org.name}/web-ci/trail/run/generic`, { parts });
}

async function read(name: string) {
  return (await org.reader.get(`/attestations/${org.name}/web-ci/trail/run/${name}`)).json[0];
}

describe("a file that comes with an attestation", () => {
  it("is kept byte for byte and handed out under its name", async () => {
    expect((await report("scan")).status).toBe(201);
    const shown = await read("scan");
    expect(shown).toMatchObject({ evidence_archive_fingerprint: digest, has_audit_package: true });
    expect(shown.evidence_archive_path).toMatch(
      /^[a-f0-9-]{32}\/trail_attestation\/[a-f0-9-]{32}\/evidence\.json$/,
    );
    const path = `/attestations/${org.name}/web-ci/trail/run/attestation/${shown.attestation_id}/evidence`;
    expect(shown._links.evidence.href).toBe(`http://waybill.test/api/v2${path}`);
    const file = await org.reader.get(path);
    expect([file.status, file.text]).toEqual([200, content]);
    expect(file.headers["content-disposition"]).toBe('attachment; filename="evidence.json"');
    expect((await (await app.org()).reader.get(path)).status).toBe(403);
  });

  it("is one, too, where no name came with it", async () => {
    const data_json = '{"attestation_name":"scan","is_compliant":true}';
    const path = `/attestations/${org.name}/web-ci/trail/run/generic`;
    const parts = { data_json, attachment_file: content };
    expect((await org.member.request("POST", path, { parts })).status).toBe(201);
    expect(await read("scan")).toMatchObject({
      evidence_archive_fingerprint: digest,
      has_audit_package: true,
    });
    const template = "version: 1\ntrail:\n  attestations:\n    - {name: scan, type: snyk}\n";
    const flow = { data_json: '{"name":"templated","description":""}', template_file: template };
    await org.member.request("PUT", `/flows/${org.name}/template_file`, { parts: flow });
    expect((await org.reader.get(`/flows/${org.name}/templated`)).json.template).toBe(template);
  });

  it("is told of by every read of attestations, where that is asked for", async () => {
    const commit = { sha1: "c".repeat(40), message: "m", author: "a", timestamp: 1, branch: "main" };
    const fingerprint = "f".repeat(64);
    await org.member.post(
      `/artifacts/${org.name}/web-ci`,
      artifactBody({ trail_name: "run", fingerprint, template_reference_name: "web" }),
    );
    expect(
      (await report("scan", { artifact_fingerprint: fingerprint, git_commit_info: commit })).status,
    ).toBe(201);
    expect((await report("gate", { git_commit_info: commit })).status).toBe(201);
    await attest(org.member, { org: org.name }, "generic", { attestation_name: "bare", is_compliant: true });
    const { attestation_id } = await read("gate");
    const all = `/attestations/${org.name}`;
    const evidence = {
      filename: "evidence.json",
      size: content.length,
      content_type: "application/json",
      sha256: digest,
    };
    const reads: [path: string, rows: (json: Answer["json"]) => Record<string, unknown>[], count: number][] =
      [
        [`${all}?attestation_id=${attestation_id}`, (json) => json.data, 1],
        [`${all}?name=scan&per_page=1`, (json) => json.data, 1],
        [`${all}/web-ci?page=1`, (json) => json.data, 3],
        [`${all}/web-ci/trail/run/gate`, (json) => json, 1],
        [`${all}/web-ci/artifact/${fingerprint}/scan`, (json) => json, 1],
        [`${all}/web-ci/artifact/${fingerprint.slice(0, 9)}/scan`, (json) => json, 1],
        [`${all}/list_attestations_for_criteria?commit_list=${commit.sha1}`, (json) => json[commit.sha1], 2],
      ];
    for (const [path, rows, count] of reads) {
      const without = await org.reader.get(path);
      const asked = await org.reader.get(`${path}${path.includes("?") ? "&" : "?"}include=evidence`);
      expect([path, asked.status]).toEqual([path, 200]);
      const shown = rows(asked.json);
      expect(shown).toHaveLength(count);
      const plain = shown.map(({ evidence: file, ...rest }) => {
        expect(file).toEqual(rest["attestation_name"] === "bare" ? null : evidence);
        return rest;
      });
      expect(rows(without.json)).toEqual(plain);
      expect(without.text).not.toContain('"evidence":{"filename"');
    }
    const refused = await org.reader.get(`${all}?include=everything`);
    expect([refused.status, refused.json.errors]).toEqual([
      400,
      { "query.include": "Input should be 'evidence' [input: everything]" },
    ]);
  });

  it("recorded answer 22: is handed out under a media type that the document declares", async () => {
    const path = "/attestations/{org}/{flow_name}/trail/{trail_name}/attestation/{attestation_id}/evidence";
    const { paths } = (await app.anonymous.get("/openapi.json")).json;
    const declared = Object.keys(paths[`/api/v2${path}`].get.responses["200"].content);
    const files: [name: string, content: string | Buffer, type: string][] = [
      ["a.json", "{}", "application/json"],
      ["a.txt", "plain", "text/plain; charset=utf-8"],
      ["a.bin", Buffer.from([0, 255, 1]), "application/octet-stream"],
      ["a.pdf", "%PDF-1.7", "application/pdf"],
      ["a.png", Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), "image/png"],
      ["a.jpg", Buffer.from([0xff, 0xd8, 0xff, 0xe0]), "image/jpeg"],
      ["a.zip", Buffer.from([0x50, 0x4b, 3, 4]), "application/zip"],
      ["a.gz", Buffer.from([0x1f, 0x8b, 8]), "application/gzip"],
    ];
    expect(declared.sort()).toEqual(files.map(([, , type]) => type).sort());
    for (const [index, [filename, bytes, type]] of files.entries()) {
      const data = { attestation_name: `f${index}`, is_compliant: true, user_data: {} };
      const parts = { attachment_file: { filename, content: bytes }, data_json: JSON.stringify(data) };
      const trail = `/attestations/${org.name}/web-ci/trail/run`;
      expect((await org.member.request("POST", `${trail}/generic`, { parts })).status).toBe(201);
      const { attestation_id } = await read(`f${index}`);
      const file = await org.reader.get(`${trail}/attestation/${attestation_id}/evidence`);
      expect([filename, file.headers["content-type"]]).toEqual([filename, type]);
    }
  });

  it("is shared by all that come with the same bytes, also at once", async () => {
    const names = ["a", "b", "c"];
    const answers = await Promise.all(names.map((name) => report(name)));
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
    const shown = await Promise.all(names.map(read));
    expect(new Set(shown.map((one) => one.evidence_archive_path)).size).toBe(1);
  });

  it("is found by the flow's former name, until another flow takes that", async () => {
    expect((await report("scan")).status).toBe(201);
    const { attestation_id } = await read("scan");
    const evidenceOf = (flow: string, id: string) =>
      org.reader.get(`/attestations/${org.name}/${flow}/trail/run/attestation/${id}/evidence`);
    const rename = `/flows/${org.name}/web-ci/rename`;
    expect((await org.member.put(rename, { new_name: "shop-ci" })).status).toBe(200);
    for (const flow of ["shop-ci", "web-ci"]) {
      const file = await evidenceOf(flow, attestation_id);
      expect([flow, file.status, file.text]).toEqual([flow, 200, content]);
      expect(file.headers["content-disposition"]).toBe('attachment; filename="evidence.json"');
    }
    // Another flow with a trail of the same name.
    expect((await putFlow(org.member, org.name, { name: "web-ci" })).status).toBe(201);
    expect((await report("scan")).status).toBe(201);
    const newer = await read("scan");
    expect(newer.attestation_id).not.toBe(attestation_id);
    expect((await evidenceOf("web-ci", newer.attestation_id)).status).toBe(200);
    expect((await evidenceOf("shop-ci", attestation_id)).text).toBe(content);
    for (const [flow, id] of [
      ["web-ci", attestation_id],
      ["shop-ci", newer.attestation_id],
    ]) {
      const answer = await evidenceOf(flow, id);
      expect([answer.status, answer.json]).toEqual([
        404,
        { message: `Attestation '${id}' has no evidence on this trail` },
      ]);
    }
  });

  it("is told from none", async () => {
    const parts = { data_json: JSON.stringify({ attestation_name: "bare", is_compliant: true }) };
    await org.member.request("POST", `/attestations/${org.name}/web-ci/trail/run/generic`, { parts });
    const shown = await read("bare");
    expect(shown).toMatchObject({ evidence_archive_path: null, has_audit_package: false });
    expect(shown._links.evidence).toBeUndefined();
    for (const id of [shown.attestation_id, "nothing"]) {
      const path = `/attestations/${org.name}/web-ci/trail/run/attestation/${id}/evidence`;
      const answer = await org.reader.get(path);
      const message = `Attestation '${id}' has no evidence on this trail`;
      expect([answer.status, answer.json]).toEqual([404, { message }]);
    }
  });
});

const analysis = {
  serverUrl: "https://sonar.acme.test",
  taskId: "AB12",
  status: "SUCCESS",
  analysedAt: "2026-08-01T10:00:00+0000",
  revision: "1111",
  project: { key: "web", name: "Web", url: "https://sonar.acme.test/dashboard?id=web" },
};

const kinds: [kind: string, data: Record<string, unknown>][] = [
  ["generic", { is_compliant: true }],
  ["junit", { junit_results: [] }],
  ["snyk", { snyk_results: { tool: { name: "Snyk", version: "1" }, results: [] } }],
  ["sonar", { sonar_results: analysis }],
  ["jira", { jira_results: [] }],
  ["pull_request", { git_provider: "github", pull_requests: [] }],
  ["system", { type_name: "decision", attestation_data: { is_compliant: true } }],
];

/** Uploads as clients do, over a real connection. */
async function upload(kind: string, data: Record<string, unknown>, file: { name: string; bytes: Buffer }) {
  const form = new FormData();
  form.set("attachment_file", new Blob([new Uint8Array(file.bytes)]), file.name);
  form.set("data_json", JSON.stringify(data));
  const answer = await fetch(`${origin}/api/v2/attestations/${org.name}/web-ci/trail/run/${kind}`, {
    method: "POST",
    headers: { authorization: `Bearer ${org.member.key}` },
    body: form,
  });
  return { status: answer.status, text: await answer.text() };
}

async function download(name: string): Promise<{ bytes: Buffer; headers: Headers }> {
  const { attestation_id } = await read(name);
  const path = `/attestations/${org.name}/web-ci/trail/run/attestation/${attestation_id}/evidence`;
  const headers = { authorization: `Bearer ${org.reader.key}` };
  const answer = await fetch(`${origin}/api/v2${path}`, { headers });
  expect(answer.status).toBe(200);
  return { bytes: Buffer.from(await answer.arrayBuffer()), headers: answer.headers };
}

describe("a large file", () => {
  it("of 10 MB comes back byte for byte, under its digest", async () => {
    const bytes = randomBytes(10 * mebibyte);
    const answer = await upload(
      "generic",
      { attestation_name: "large", is_compliant: true },
      { name: "a.bin", bytes },
    );
    expect(answer).toEqual({ status: 201, text: '"OK"' });
    expect((await read("large")).evidence_archive_fingerprint).toBe(sha256(bytes).toString("hex"));
    const found = await download("large");
    expect(found.bytes.equals(bytes)).toBe(true);
    expect(found.headers.get("content-length")).toBe(String(bytes.length));
  });

  it("of 10 MB may come with data of 10 MB, and with no more", async () => {
    const bytes = randomBytes(10 * mebibyte);
    const data = { attestation_name: "wide", is_compliant: true, user_data: { text: "" } };
    const room = 10 * mebibyte - JSON.stringify(data).length;
    data.user_data.text = "x".repeat(room);
    expect((await upload("generic", data, { name: "a.bin", bytes })).status).toBe(201);
    expect((await read("wide"))["user_data"]).toEqual({ text: data.user_data.text });
    data.user_data.text += "x";
    const larger = await upload("generic", { ...data, attestation_name: "wider" }, { name: "a.bin", bytes });
    expect(larger.status).toBe(413);
  });

  it.each(kinds)(
    "beyond the limit is refused with its reason, and nothing is reported: %s",
    async (kind, data) => {
      const bytes = Buffer.alloc(10 * mebibyte + 1);
      const body = { attestation_name: "large", ...data };
      const answer = await upload(kind, body, { name: "a.bin", bytes });
      expect(answer).toEqual({ status: 413, text: '{"message":"File size exceeds 10MB limit"}' });
      expect((await org.reader.get(`/trails/${org.name}/web-ci/run`)).status).toBe(404);
      expect((await upload(kind, body, { name: "a.bin", bytes: bytes.subarray(0, 10) })).status).toBe(201);
    },
  );
});

describe("parts that nobody asked for", () => {
  const part = (name: string, type: string, value: string): string =>
    `--b\r\nContent-Disposition: form-data; name="${name}"\r\nContent-Type: ${type}\r\n\r\n${value}\r\n`;

  /** Sends the JSON field of a preview, which readers may ask for, and other parts. */
  async function send(...parts: string[]): Promise<[status: number, answer: string]> {
    const policy = part("policy_file", "text/plain", "_schema: https://waybill.test/schemas/policy/v1\n");
    const answer = await fetch(`${origin}/api/v2/policies/${org.name}/preview`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${org.reader.key}`,
        "content-type": "multipart/form-data; boundary=b",
      },
      body: Buffer.from(
        [part("data_json", "application/json", "{}"), policy, ...parts, "--b--\r\n"].join(""),
      ),
    });
    return [answer.status, await answer.text()];
  }

  it.each(["application/json", "application/json; charset=utf-8", "text/plain"])(
    "count by their bytes, whatever they say they are: %s",
    async (type) => {
      const large = part("x", type, JSON.stringify({ a: "x".repeat(9 * mebibyte) }));
      expect(await send(large, large)).toEqual([200, '{"compliant":true,"environments":[]}']);
      expect(await send(large, large, large)).toEqual([413, '{"message":"Request body is too large"}']);
    },
  );

  it("are not parsed where they say they are JSON: nobody waits", { timeout: 60_000 }, async () => {
    const large = part("x", "application/json", `{"a":[${"{},".repeat(3_300_000)}1]}`);
    const answers: [number, string][] = [];
    const longest = await leastLongestTurn(150, async () => void answers.push(await send(large)));
    expect(new Set(answers.map(([status]) => status))).toEqual(new Set([200]));
    expect(longest).toBeLessThan(150);
  });
});

describe("what a file is called and holds", () => {
  it.each([
    ["../../../etc/passwd", "passwd"],
    ["C:\\Windows\\system.ini", "system.ini"],
    ["a\u202egpj.exe", "agpj.exe"],
    ["..", "evidence"],
    ["-rf", "-rf"],
    ['say "hi".txt', 'say "hi".txt'],
    ["報告.pdf", "報告.pdf"],
    [`${"n".repeat(300)}.json`, `${"n".repeat(195)}.json`],
  ])("leads nowhere else: %s", async (given, kept) => {
    const body = { attestation_name: "named", is_compliant: true };
    expect((await upload("generic", body, { name: given, bytes: Buffer.from("x") })).status).toBe(201);
    const shown = await read("named");
    // Clients encode quotes in names as browsers do.
    expect(decodeURIComponent(shown.evidence_archive_path.split("/").at(-1))).toBe(kept);
    const { headers } = await download("named");
    const disposition = headers.get("content-disposition")!;
    expect(disposition).toMatch(/^attachment; filename="[^"\\/]+"(?:; filename\*=UTF-8''[\w%.-]+)?$/);
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("content-security-policy")).toBe("default-src 'none'; sandbox");
  });

  it.each([
    ["page.html", "<script>alert(1)</script>", "text/plain; charset=utf-8"],
    ["image.svg", "<svg onload='alert(1)'/>", "text/plain; charset=utf-8"],
    ["evidence.tgz", Buffer.from([0x1f, 0x8b, 8, 0, 1, 2, 3]), "application/gzip"],
    ["bomb.zip", Buffer.from("PK\u0003\u0004not a zip at all"), "application/zip"],
    ["empty", "", "application/octet-stream"],
  ])("runs nowhere and is never unpacked: %s", async (name, held, type) => {
    const bytes = Buffer.from(held);
    const body = { attestation_name: "typed", is_compliant: true };
    expect((await upload("generic", body, { name, bytes })).status).toBe(201);
    const found = await download("typed");
    expect(found.headers.get("content-type")).toBe(type);
    expect(found.bytes.equals(bytes)).toBe(true);
  });
});
