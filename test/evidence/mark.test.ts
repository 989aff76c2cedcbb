import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";

import { findSharedEvidence } from "../../src/db/evidence-mark.ts";
import { createFileStore } from "../../src/evidence/files.ts";
import { createS3Store } from "../../src/evidence/s3.ts";
import type { EvidenceStore } from "../../src/evidence/store.ts";
import {
  ForeignEvidenceError,
  requireKnownEvidence,
  takeEvidence,
  takeOverEvidence,
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
  await app.deps.db.pool.query(
    "delete from instance_settings where name in ('evidence_mark', 'evidence_shared')",
  );
});
afterEach(() => folder.remove());

/** Starts as a server with this store of evidence does. */
const start = (evidence: EvidenceStore): Promise<void> => requireKnownEvidence({ db: app.deps.db, evidence });
const asOf = "2026-11-23T02:17:00.000Z";
/** Does what a restore does at its end. */
const take = (evidence: EvidenceStore, bringsFiles = true): Promise<boolean> =>
  takeEvidence({ db: app.deps.db, evidence }, { asOf, bringsFiles });
const takeOver = (evidence: EvidenceStore): Promise<boolean> =>
  takeOverEvidence({ db: app.deps.db, evidence }, () => {});
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
      `This is where another installation keeps its evidence: ${marked("theirs")} says another, and that of this database says ${mark}. If that installation is no more: \`waybill admin evidence take-over\``,
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

  it("gets a mark of its own where a backup was restored, with which nobody starts on what was backed up", async () => {
    await start(files("before"));
    expect(await take(files("after"))).toBe(false);
    expect(await findSharedEvidence(app.deps.db)).toBeUndefined();
    await start(files("after"));
    expect(readFileSync(marked("after"), "utf8").trim()).toBe(await noted());
    await expect(start(files("before"))).rejects.toThrow(ForeignEvidenceError);
  });

  it("may be another installation's, too, where a backup was restored into it, until that one is gone", async () => {
    await start(files("before"));
    mkdirSync(join(folder.path, "after"));
    writeFileSync(marked("after"), "from before\n");
    expect(await take(files("after"))).toBe(true);
    expect(await findSharedEvidence(app.deps.db)).toBe(asOf);
    await start(files("after"));
    expect(await noted()).toBe("from before");
    expect([await takeOver(files("after")), await takeOver(files("after"))]).toEqual([true, false]);
    expect(await findSharedEvidence(app.deps.db)).toBeUndefined();
  });

  it("stays that of a copy that brought no files, and is another one's, too", async () => {
    await start(files("before"));
    const mark = await noted();
    expect(await take(files("before"), false)).toBe(true);
    // Also where the store was out of sight when the backup was restored.
    expect(await take(files("elsewhere"), false)).toBe(true);
    expect([await noted(), existsSync(marked("elsewhere"))]).toEqual([mark, false]);
    expect(await take(files("new"))).toBe(false);
    expect(await findSharedEvidence(app.deps.db)).toBeUndefined();
  });

  it("is taken over by who has to work with that of an installation that is gone", async () => {
    await start(files("before"));
    await expect(takeOver(files("theirs"))).rejects.toThrow(`${marked("theirs")} is missing`);
    mkdirSync(join(folder.path, "theirs"));
    writeFileSync(marked("theirs"), "another\n");
    expect(await takeOver(files("theirs"))).toBe(true);
    await start(files("theirs"));
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
