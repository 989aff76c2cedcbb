import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";

import { createFileStore } from "../../src/evidence/files.ts";
import { createS3Store } from "../../src/evidence/s3.ts";
import type { EvidenceStore } from "../../src/evidence/store.ts";
import {
  ForeignEvidenceError,
  requireKnownEvidence,
  takeEvidence,
} from "../../src/modules/process/evidence/mark-service.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { temporaryFolder } from "../support/evidence.ts";
import { startS3Server } from "../support/s3-server.ts";

let app: TestApp;
let folder: ReturnType<typeof temporaryFolder>;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  folder = temporaryFolder();
  await app.deps.db.pool.query("delete from instance_settings where name = 'evidence_mark'");
});
afterEach(() => folder.remove());

/** Starts as a server with this store of evidence does. */
const start = (evidence: EvidenceStore): Promise<void> => requireKnownEvidence({ db: app.deps.db, evidence });
const files = (name: string): EvidenceStore => createFileStore(join(folder.path, name));
const marked = (name: string): string => join(folder.path, name, "waybill-evidence");

async function noted(): Promise<string | undefined> {
  const { rows } = await app.deps.db.pool.query<{ value: string }>(
    "select value from instance_settings where name = 'evidence_mark'",
  );
  return rows[0]?.value;
}

describe("where evidence is kept", () => {
  it("is marked by the first server, and taken by all that share it", async () => {
    await Promise.all([1, 2, 3, 4].map(() => start(files("shared"))));
    const mark = readFileSync(marked("shared"), "utf8").trim();
    expect(mark).toMatch(/^[0-9a-f-]{36}$/);
    expect(await noted()).toBe(mark);
    expect(statSync(marked("shared")).mode & 0o077).toBe(0);
    await start(files("shared"));
    // It is not taken for content.
    for await (const content of files("shared").list()) expect(content).toBeUndefined();
  });

  it("is not another folder, whoever of several servers comes first", async () => {
    const outcomes = await Promise.allSettled(["one", "two", "three"].map((name) => start(files(name))));
    const refused = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? outcome.reason : []));
    expect(refused).toEqual([expect.any(ForeignEvidenceError), expect.any(ForeignEvidenceError)]);
    expect(["one", "two", "three"].filter((name) => existsSync(marked(name)))).toHaveLength(1);
  });

  it("is told by what to do where it is missing, which helps", async () => {
    await start(files("shared"));
    const mark = (await noted())!;
    await expect(start(files("other"))).rejects.toThrow(
      `This is not where the evidence of this database is kept: ${marked("other")} is missing. Is a disk not mounted, or is this another folder or bucket than that of the other servers? If the evidence was moved here, write ${mark} there.`,
    );
    expect(existsSync(marked("other"))).toBe(false);
    mkdirSync(join(folder.path, "other"));
    writeFileSync(marked("other"), mark);
    await start(files("other"));
  });

  it("is not that of another installation", async () => {
    mkdirSync(join(folder.path, "theirs"));
    writeFileSync(marked("theirs"), "another\n");
    await expect(start(files("theirs"))).rejects.toThrow(
      `Another installation keeps its evidence here: ${marked("theirs")} says so. If that is no more, remove it.`,
    );
    // Nothing is kept of a start that was refused: here or anywhere else it may be tried again.
    rmSync(marked("theirs"));
    await start(files("theirs"));
    writeFileSync(marked("theirs"), "another\n");
    const mark = await noted();
    await expect(start(files("theirs"))).rejects.toThrow(
      `This is where another installation keeps its evidence: ${marked("theirs")} says another, and that of this database says ${mark}.`,
    );
  });

  it("is marked by the next start when a server was killed before it had done so", async () => {
    await app.deps.db.pool.query(
      "insert into instance_settings (name, value) values ('evidence_mark', 'new a-mark')",
    );
    await start(files("shared"));
    expect(readFileSync(marked("shared"), "utf8")).toBe("a-mark\n");
    expect(await noted()).toBe("a-mark");
  });

  it.each(["unmarked", "marked"])("is where a backup was restored to, %s", async (how) => {
    await start(files("before"));
    if (how === "marked") {
      mkdirSync(join(folder.path, "after"));
      writeFileSync(marked("after"), "from before\n");
    }
    await takeEvidence({ db: app.deps.db, evidence: files("after") });
    await start(files("after"));
    expect(readFileSync(marked("after"), "utf8").trim()).toBe(await noted());
  });

  it("may be a bucket", async () => {
    const credentials = { accessKey: "known", secretKey: "a secret", region: "us-east-1" };
    const server = await startS3Server(credentials);
    try {
      const { endpoint, bucket } = server;
      const bucketWith = (prefix: string): EvidenceStore =>
        createS3Store({ endpoint, bucket, ...credentials, prefix }, folder.path);
      await start(bucketWith("waybill/"));
      await start(bucketWith("waybill/"));
      expect(await server.keys()).toEqual(["waybill/waybill-evidence"]);
      await expect(start(bucketWith("other/"))).rejects.toThrow(
        `other/waybill-evidence in bucket ${bucket} is missing`,
      );
    } finally {
      await server.stop();
    }
  });
});
