import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

import { sha256 } from "../../src/lib/hash.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { type S3Server, startS3Server } from "../support/s3-server.ts";

const credentials = { accessKey: "known", secretKey: "a secret", region: "eu-central-1" };
let bucket: S3Server;
let app: TestApp;
let origin: string;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "waybill-bucket-"));
  bucket = await startS3Server(credentials);
  app = await startTestApp({
    WAYBILL_EVIDENCE_S3_ENDPOINT: bucket.endpoint,
    WAYBILL_EVIDENCE_S3_BUCKET: bucket.bucket,
    WAYBILL_EVIDENCE_S3_REGION: credentials.region,
    WAYBILL_EVIDENCE_S3_ACCESS_KEY: credentials.accessKey,
    WAYBILL_EVIDENCE_S3_SECRET_KEY: credentials.secretKey,
    WAYBILL_EVIDENCE_S3_PREFIX: "waybill/",
  });
  origin = await app.server.listen({ port: 0, host: "127.0.0.1" });
});
afterAll(async () => {
  await app.close();
  await bucket.stop();
  rmSync(folder, { recursive: true, force: true });
});

let org: TestOrg;
beforeEach(async () => {
  org = await app.org();
});

async function report(name: string, content: string) {
  const parts = {
    data_json: JSON.stringify({ attestation_name: name, is_compliant: true }),
    attachment_file: { filename: `${name}.txt`, content },
  };
  return org.member.request("POST", `/attestations/${org.name}/web-ci/trail/run/generic`, { parts });
}

function download(path: string): Promise<Response> {
  return fetch(`${origin}/api/v2${path}`, { headers: { authorization: `Bearer ${org.reader.key}` } });
}

/** Whether an answer came to its end, and says that all went well. */
async function whole(path: string): Promise<boolean> {
  const answer = await download(path);
  return answer.arrayBuffer().then(
    () => answer.ok,
    () => false,
  );
}

const keyOf = (content: string): string => `waybill/${sha256(content).toString("hex")}`;

describe("evidence in a bucket", () => {
  it("is kept, handed out and packed like files are", async () => {
    const contents = ["one", "two".repeat(100_000)];
    for (const [index, content] of contents.entries())
      expect((await report(`file-${index}`, content)).status).toBe(201);
    for (const content of contents) expect(String(await bucket.read(keyOf(content)))).toBe(content);
    const [shown] = (await org.reader.get(`/attestations/${org.name}/web-ci/trail/run/file-1`)).json;
    const path = `/attestations/${org.name}/web-ci/trail/run/attestation/${shown.attestation_id}/evidence`;
    expect(await (await download(path)).text()).toBe(contents[1]);
    const archive = await (await download(`/trails/${org.name}/web-ci/run/audit_package`)).arrayBuffer();
    execFileSync("tar", ["-x", "-C", folder, "-f", "-"], { input: Buffer.from(archive) });
    const said = execFileSync("sha256sum", ["--strict", "-c", "SHA256SUMS"], {
      cwd: join(folder, "web-ci-run"),
      encoding: "utf8",
    });
    expect(said.trim().split("\n")).toHaveLength(5);
  });

  it("that was damaged there is never handed out whole", async () => {
    expect((await report("scan", "as it was")).status).toBe(201);
    await bucket.write(keyOf("as it was"), Buffer.from("as it is."));
    const [shown] = (await org.reader.get(`/attestations/${org.name}/web-ci/trail/run/scan`)).json;
    const path = `/attestations/${org.name}/web-ci/trail/run/attestation/${shown.attestation_id}/evidence`;
    for (const broken of [path, `/trails/${org.name}/web-ci/run/audit_package`])
      expect(await whole(broken)).toBe(false);
    // Sending it again mends it.
    expect((await report("scan", "as it was")).status).toBe(201);
    expect(await (await download(path)).text()).toBe("as it was");
    expect(await whole(`/trails/${org.name}/web-ci/run/audit_package`)).toBe(true);
  });

  it("leaves no report behind while the bucket is out of service", async () => {
    await bucket.failNext("PUT", 3);
    const refused = await report("scan", "not now");
    expect([refused.status, refused.json.message]).toEqual([
      503,
      "The evidence storage is not available, try again",
    ]);
    expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
    expect((await org.reader.get(`/trails/${org.name}/web-ci/run`)).status).toBe(404);
    expect(await bucket.keys()).not.toContain(keyOf("not now"));
    expect((await report("scan", "not now")).status).toBe(201);
  });
});
