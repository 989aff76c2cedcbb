import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";

import { sha256 } from "../../src/lib/hash.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody, commitOf, fingerprintOf } from "../support/artifacts.ts";
import { commitInfo } from "../support/attestations.ts";
import type { Client } from "../support/client.ts";

let app: TestApp;
let origin: string;
beforeAll(async () => {
  app = await startTestApp();
  origin = await app.server.listen({ port: 0, host: "127.0.0.1" });
});
afterAll(() => app.close());

let org: TestOrg;
let folder: string;
beforeEach(async () => {
  org = await app.org();
  folder = mkdtempSync(join(tmpdir(), "waybill-package-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface Unpacked {
  root: string;
  disposition: string;
  type: string;
}

/** Downloads over a real connection, as a stream into the system's tar. */
async function download(client: Client, path: string): Promise<Unpacked> {
  const out = mkdtempSync(join(folder, "out-"));
  const asked = get(`${origin}/api/v2${path}`, { headers: { authorization: `Bearer ${client.key}` } });
  const [answer] = await once(asked, "response");
  expect(answer.statusCode).toBe(200);
  const tar = spawn("tar", ["-x", "-C", out, "-f", "-"], { stdio: ["pipe", "ignore", "pipe"] });
  const ended = once(tar, "exit");
  try {
    await pipeline(answer, tar.stdin);
  } finally {
    // It may still write what came before the answer broke off.
    await ended;
  }
  expect(tar.exitCode).toBe(0);
  const { "content-disposition": disposition, "content-type": type } = answer.headers;
  return { root: join(out, readdirSync(out)[0]!), disposition, type };
}

/** Paths that `sha256sum` found to be as the manifest says. */
function checked(root: string): string[] {
  const said = execFileSync("sha256sum", ["--strict", "-c", "SHA256SUMS"], {
    cwd: root,
    encoding: "utf8",
    stdio: "pipe",
  });
  return said
    .trim()
    .split("\n")
    .map((line) => line.replace(/: OK$/, ""));
}

function filesOf(root: string): string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .filter((path) => path !== "SHA256SUMS")
    .sort();
}

interface Attached {
  filename: string;
  content: string | Buffer;
}

async function attest(body: Record<string, unknown>, file?: Attached, trail = "run"): Promise<void> {
  const data = { is_compliant: true, ...body };
  const parts = {
    data_json: JSON.stringify(data),
    ...(file === undefined ? {} : { attachment_file: file }),
  };
  const path = `/attestations/${org.name}/web-ci/trail/${trail}/generic`;
  expect((await org.member.request("POST", path, { parts })).status).toBe(201);
}

async function reportArtifact(more: Record<string, unknown>): Promise<void> {
  const body = artifactBody({ trail_name: "run", template_reference_name: "web", ...more });
  expect((await org.member.post(`/artifacts/${org.name}/web-ci`, body)).status).toBe(201);
}

async function shown(path: string): Promise<({ attestation_id: string } & Record<string, unknown>)[]> {
  return (await org.reader.get(`/attestations/${org.name}/web-ci/${path}`)).json;
}

function readJson(root: string, path: string): unknown {
  return JSON.parse(readFileSync(join(root, path), "utf8"));
}

const fingerprint = fingerprintOf("web");
const sbom = { filename: "sbom.json", content: '{"components":[]}' };
const binary = { filename: "scan.bin", content: Buffer.from([0, 255, 13, 10, 0]) };

function evidencePath({ filename, content }: Attached): string {
  return `evidence/${sha256(content).toString("hex")}/${filename}`;
}

describe("the audit package of a trail", () => {
  it("holds what was reported as reads show it, and every file once", async () => {
    await reportArtifact({
      fingerprint,
      git_commit: commitOf("1"),
      user_data: { build: 12345678901234567000 },
    });
    await attest({ attestation_name: "sbom", artifact_fingerprint: fingerprint }, sbom);
    await attest({ attestation_name: "sbom", artifact_fingerprint: fingerprint }, sbom);
    await attest({ attestation_name: "ticket", user_data: { "10": "b", "9": "a" } }, binary);
    await attest({ attestation_name: "bare" });
    const { root, disposition, type } = await download(
      org.reader,
      `/trails/${org.name}/web-ci/run/audit_package`,
    );
    expect([root.split("/").at(-1), disposition, type]).toEqual([
      "web-ci-run",
      'attachment; filename="web-ci-run.tar"',
      "application/x-tar",
    ]);
    const [ticket] = await shown("trail/run/ticket");
    const [bare] = await shown("trail/run/bare");
    const sboms = await shown(`artifact/${fingerprint}/sbom`);
    expect(sboms).toHaveLength(2);
    const trail = (await org.reader.get(`/trails/${org.name}/web-ci/run`)).json;
    const { artifact_id } = trail.compliance_status.artifacts_statuses.web;
    const expected = [
      `artifacts/web/${artifact_id}.json`,
      `attestations/bare/${bare!.attestation_id}.json`,
      ...sboms.map((one) => `attestations/sbom/${one.attestation_id}.json`),
      `attestations/ticket/${ticket!.attestation_id}.json`,
      evidencePath(sbom),
      evidencePath(binary),
      "trail.json",
    ].sort();
    expect(filesOf(root)).toEqual(expected);
    expect(checked(root).sort()).toEqual(expected);
    expect(readJson(root, "trail.json")).toEqual(trail);
    expect(readJson(root, `attestations/ticket/${ticket!.attestation_id}.json`)).toEqual(ticket);
    expect(readJson(root, `attestations/sbom/${sboms[1]!.attestation_id}.json`)).toEqual(sboms[1]);
    expect(readJson(root, `artifacts/web/${artifact_id}.json`)).toMatchObject({
      artifact_id,
      fingerprint,
      flow_name: "web-ci",
      trail_name: "run",
      git_commit: commitOf("1"),
      compliance_status: trail.compliance_status.artifacts_statuses.web,
      state: "COMPLIANT",
      html_url: `http://waybill.test/${org.name}/flows/web-ci/artifacts/${fingerprint}?artifact_id=${artifact_id}`,
    });
    expect(readFileSync(join(root, evidencePath(binary)))).toEqual(binary.content);
    writeFileSync(join(root, evidencePath(sbom)), "changed");
    expect(() => checked(root)).toThrow("Command failed");
  });

  it("answers HEAD as it would GET, with no length that it does not know", async () => {
    await attest({ attestation_name: "bare" });
    const url = `${origin}/api/v2/trails/${org.name}/web-ci/run/audit_package`;
    const [head, whole] = await Promise.all(
      ["HEAD", "GET"].map((method) =>
        fetch(url, { method, headers: { authorization: `Bearer ${org.reader.key}` } }),
      ),
    );
    const told = (answer: Response | undefined) =>
      ["content-type", "content-disposition", "content-length"].map((name) => answer?.headers.get(name));
    expect([head?.status, told(head)]).toEqual([200, told(whole)]);
    expect(await head?.text()).toBe("");
    await whole?.arrayBuffer();
  });

  it("is sent in a few statements, however much was reported", async () => {
    for (let number = 0; number < 30; number += 1) await attest({ attestation_name: `check-${number % 3}` });
    let statements = 0;
    const { pool } = app.deps.db;
    const { query } = pool;
    pool.query = ((...args: Parameters<typeof query>) => {
      statements += 1;
      return query.apply(pool, args);
    }) as typeof query;
    try {
      const { root } = await download(org.reader, `/trails/${org.name}/web-ci/run/audit_package`);
      expect(checked(root)).toHaveLength(31);
    } finally {
      pool.query = query;
    }
    expect(statements).toBeLessThan(8);
  });

  it("holds reports of megabytes and hundreds of small ones, each once", async () => {
    const large = "x".repeat(3_000_000);
    for (let number = 0; number < 3; number += 1)
      await attest({ attestation_name: "large", user_data: { number, large } });
    await Promise.all(
      Array.from({ length: 230 }, (_, number) => attest({ attestation_name: `small-${number}` })),
    );
    const { root } = await download(org.reader, `/trails/${org.name}/web-ci/run/audit_package`);
    const paths = checked(root);
    expect(paths).toHaveLength(234);
    const ofLarge = paths.filter((path) => path.startsWith("attestations/large/"));
    const numbers = ofLarge.map(
      (path) => (readJson(root, path) as { user_data: { number: number } }).user_data.number,
    );
    expect(new Set(numbers)).toEqual(new Set([0, 1, 2]));
  });

  it("takes no harm from what files and reports are called", async () => {
    const names = ["../../escape", "..", "/etc/passwd", "-rf", "a\u202egpj.exe", "CON", "SHA256SUMS"];
    for (const [index, filename] of names.entries())
      await attest({ attestation_name: "-a,b" }, { filename, content: `content ${index}` });
    const { root } = await download(org.reader, `/trails/${org.name}/web-ci/run/audit_package`);
    expect(checked(root)).toHaveLength(2 * names.length + 1);
    expect(readdirSync(folder)).toHaveLength(1);
    expect(readdirSync(root).sort()).toEqual(["SHA256SUMS", "attestations", "evidence", "trail.json"]);
  });

  it("keeps archives that would do harm as they are, closed", async () => {
    const inside = join(folder, "inside");
    mkdirSync(inside);
    writeFileSync(join(inside, "escape"), "x");
    const bomb = execFileSync("tar", [
      "-c",
      "-z",
      "--transform",
      "s,^,../../,",
      "-P",
      "-C",
      inside,
      "escape",
    ]);
    await attest({ attestation_name: "evidence" }, { filename: "evidence.tgz", content: bomb });
    const { root } = await download(org.reader, `/trails/${org.name}/web-ci/run/audit_package`);
    expect(readFileSync(join(root, evidencePath({ filename: "evidence.tgz", content: bomb })))).toEqual(bomb);
    expect(checked(root)).toHaveLength(3);
  });

  it("breaks off, for the client to see, when a file is damaged or gone", async () => {
    const digest = sha256("kept").toString("hex");
    // Longer than what is gathered before the first bytes leave: status and headers are gone when the file is opened.
    await attest({ attestation_name: "before", user_data: { long: "x".repeat(300_000) } });
    await attest({ attestation_name: "scan" }, { filename: "scan.txt", content: "kept" });
    const path = join(app.deps.config.evidence.dir, digest.slice(0, 2), digest);
    const url = `/trails/${org.name}/web-ci/run/audit_package`;
    // Whether the head of the answer comes through before the connection ends is a matter of chance.
    const broken = /^(?:aborted|socket hang up|read ECONNRESET)$/;
    writeFileSync(path, "lost");
    await expect(download(org.reader, url)).rejects.toThrow(broken);
    rmSync(path);
    await expect(download(org.reader, url)).rejects.toThrow(broken);
    for (const problem of ["damaged", "missing"])
      await expect.poll(() => app.logged().includes(`Stored content ${digest} is ${problem}`)).toBe(true);
  });

  it("is for members of the organization, and of a trail that exists", async () => {
    await attest({ attestation_name: "scan" });
    const path = `/trails/${org.name}/web-ci/run/audit_package`;
    const read = await org.reader.get(path);
    expect([read.status, read.headers["content-type"]]).toEqual([200, "application/x-tar"]);
    expect((await (await app.org()).admin.get(path)).status).toBe(403);
    const unknown = await org.reader.get(`/trails/${org.name}/web-ci/other/audit_package`);
    expect([unknown.status, unknown.json.message]).toEqual([
      404,
      `Trail with name 'other' does not exist for Organization '${org.name}' and Flow 'web-ci'`,
    ]);
  });
});

describe("the audit package of an artifact", () => {
  it("holds its reports and attestations from all trails of the flow, and no others", async () => {
    const commit = { git_commit: commitOf("1") };
    const waiting = { target_artifacts: ["web"], git_commit_info: commitInfo(commitOf("1")) };
    await attest({ attestation_name: "unit", ...waiting }, sbom);
    await reportArtifact({ fingerprint, ...commit });
    await reportArtifact({ fingerprint, ...commit, trail_name: "second" });
    await reportArtifact({ fingerprint: fingerprintOf("other"), template_reference_name: "other" });
    await attest({ attestation_name: "scan", artifact_fingerprint: fingerprint }, binary, "second");
    await attest({ attestation_name: "ticket" });
    await attest({ attestation_name: "scan", artifact_fingerprint: fingerprintOf("other") });
    const part = fingerprint.slice(0, 7);
    const path = `/artifacts/${org.name}/web-ci/${part}/audit_package`;
    const { root, disposition } = await download(org.reader, path);
    expect(disposition).toBe(`attachment; filename="web-ci-${fingerprint}.tar"`);
    const attestations = ["unit", "scan"].map(async (name) => {
      const [one] = await shown(`artifact/${fingerprint}/${name}`);
      return [`attestations/${name}/${one!.attestation_id}.json`, one] as const;
    });
    for (const [file, one] of await Promise.all(attestations))
      expect(readJson(root, file)).toEqual(
        // Read by the artifact, it has the artifact's URL; one without a fingerprint has its trail's here.
        { ...one, _links: (readJson(root, file) as { _links: unknown })._links },
      );
    expect(
      checked(root)
        .map((file) => file.split("/").slice(0, 2).join("/"))
        .sort(),
    ).toEqual(
      [
        "artifacts/web",
        "artifacts/web",
        "attestations/scan",
        "attestations/unit",
        `evidence/${sha256(sbom.content).toString("hex")}`,
        `evidence/${sha256(binary.content).toString("hex")}`,
      ].sort(),
    );
  });

  it("is of an artifact that the flow reported", async () => {
    await reportArtifact({ fingerprint });
    const path = (flow: string, part: string) => `/artifacts/${org.name}/${flow}/${part}/audit_package`;
    expect((await org.reader.get(path("web-ci", fingerprint))).status).toBe(200);
    for (const [flow, part] of [
      ["web-ci", "abcdef"],
      ["other", fingerprint],
    ] as const) {
      const answer = await org.reader.get(path(flow, part));
      expect([answer.status, answer.json.message]).toEqual([
        404,
        `Artifact with fingerprint '${part}' does not exist in flow '${flow}' belonging to organization '${org.name}'`,
      ]);
    }
    expect((await org.reader.get(path("web-ci", "xyz"))).status).toBe(400);
  });
});

describe("the audit package of an attestation", () => {
  it("holds it and its file", async () => {
    await attest({ attestation_name: "scan" }, binary);
    await attest({ attestation_name: "scan" }, sbom);
    const [first] = await shown("trail/run/scan");
    const id = first!.attestation_id;
    const path = `/attestations/${org.name}/web-ci/trail/run/attestation/${id}/audit_package`;
    const { root, disposition } = await download(org.reader, path);
    expect(disposition).toBe(`attachment; filename="web-ci-run-scan-${id}.tar"`);
    expect(checked(root).sort()).toEqual([`attestations/scan/${id}.json`, evidencePath(binary)].sort());
    expect(readJson(root, `attestations/scan/${id}.json`)).toEqual(first);
    expect((await org.reader.get(path)).status).toBe(200);
    for (const other of [path.replace("/run/", "/other/"), path.replace(id, "nothing")])
      expect((await org.reader.get(other)).status).toBe(404);
    expect((await (await app.org()).reader.get(path)).status).toBe(403);
  });
});
