import { utimesSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";

import { takeOver, verifyEvidence } from "../../src/cli/admin-evidence.ts";
import { print } from "../../src/cli/output.ts";
import type { UploadedEvidence } from "../../src/contract/endpoint.ts";
import { transaction } from "../../src/db/transaction.ts";
import { instanceLogId } from "../../src/domain/instance-log.ts";
import { createIntake } from "../../src/http/evidence-part.ts";
import {
  type EvidenceFile,
  openEvidence,
  storeEvidence,
} from "../../src/modules/process/evidence/service.ts";
import { takeEvidence } from "../../src/modules/process/evidence/mark-service.ts";
import { cleanEvidence, removeOrphan } from "../../src/modules/process/evidence/verify-service.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { put, streamOf } from "../support/evidence.ts";

let app: TestApp;
let org: TestOrg;
let other: TestOrg;
let lines: string[];
beforeAll(async () => {
  app = await startTestApp();
  org = await app.org();
  other = await app.org();
});
afterAll(() => app.close());
beforeEach(() => {
  lines = [];
  vi.spyOn(print, "line").mockImplementation((text = "") => void lines.push(text));
});
afterEach(() => vi.restoreAllMocks());

function receive(filename: string, content: string): Promise<UploadedEvidence> {
  return createIntake(app.deps).receive(streamOf(content), filename);
}

async function store(orgId: string, ...uploads: UploadedEvidence[]): Promise<EvidenceFile[]> {
  await Promise.all(uploads.map((upload) => upload.keep()));
  return transaction(app.deps.db, (tx) => storeEvidence(app.deps, tx, orgId, uploads));
}

function pathOf(sha256: string): string {
  return join(app.deps.config.evidence.dir, sha256.slice(0, 2), sha256);
}

function makeOld(sha256: string, hours: number): void {
  const then = Date.now() / 1000 - hours * 3600;
  utimesSync(pathOf(sha256), then, then);
}

describe("storeEvidence and openEvidence", () => {
  it("hands a file out under its name, as bytes to save", async () => {
    const [file] = await store(org.id, await receive("naïve report.json", '{"a":1}'));
    const download = await openEvidence(app.deps, app.deps.db, org.id, file!.id);
    expect((await buffer(download.body)).toString()).toBe('{"a":1}');
    expect(download.headers).toEqual({
      "content-type": "application/json",
      "content-length": "7",
      "content-disposition":
        "attachment; filename=\"na_ve report.json\"; filename*=UTF-8''na%C3%AFve%20report.json",
      "content-security-policy": "default-src 'none'; sandbox",
      "x-content-type-options": "nosniff",
    });
  });

  it("shows a file to the organization that has it only", async () => {
    const [file] = await store(org.id, await receive("a.txt", "private"));
    const opening = openEvidence(app.deps, app.deps.db, other.id, file!.id);
    await expect(opening).rejects.toMatchObject({ kind: "not_found" });
  });

  it("is one file for the same bytes under the same name, and answers in the order asked", async () => {
    const uploads = await Promise.all([
      receive("b.txt", "same"),
      receive("a.txt", "same"),
      receive("c.txt", "another"),
      receive("b.txt", "same"),
    ]);
    const files = await store(org.id, ...uploads);
    expect(files.map((file) => file.filename)).toEqual(["b.txt", "a.txt", "c.txt", "b.txt"]);
    expect(files[3]!.id).toBe(files[0]!.id);
    expect(new Set(files.map((file) => file.id)).size).toBe(3);
    const again = await store(org.id, await receive("b.txt", "same"));
    expect(again[0]!.id).toBe(files[0]!.id);
    const elsewhere = await store(other.id, await receive("b.txt", "same"));
    expect(elsewhere[0]!.id).not.toBe(files[0]!.id);
  });

  it("bears many writers of the same files at once", async () => {
    const all = await Promise.all(
      Array.from({ length: 12 }, async (_, writer) => {
        const names = writer % 2 === 0 ? ["x", "y", "z"] : ["z", "y", "x"];
        const files = await store(
          org.id,
          ...(await Promise.all(names.map((name) => receive(name, `many ${name}`)))),
        );
        return files
          .map((file) => file.id)
          .sort()
          .join();
      }),
    );
    expect(new Set(all).size).toBe(1);
  });

  it("writes no row for content that is gone", async () => {
    const upload = await receive("gone.txt", "gone");
    await upload.keep();
    await app.deps.evidence.remove(upload.sha256);
    const storing = transaction(app.deps.db, (tx) => storeEvidence(app.deps, tx, org.id, [upload]));
    await expect(storing).rejects.toMatchObject({ kind: "unavailable" });
  });
});

describe("removing orphans", () => {
  it("waits for a writer that is about to refer to the content, and then leaves it alone", async () => {
    const upload = await receive("contested.txt", "contested");
    await upload.keep();
    let removing: Promise<boolean> | undefined;
    await transaction(app.deps.db, async (tx) => {
      await storeEvidence(app.deps, tx, org.id, [upload]);
      removing = removeOrphan(app.deps, upload.sha256);
      // It has to be waiting for this transaction before that ends.
      for (let waiting = 0; waiting === 0;) {
        const { rows } = await app.deps.db.pool.query(
          "select count(*)::int as n from pg_locks where locktype = 'advisory' and not granted and database = (select oid from pg_database where datname = current_database())",
        );
        waiting = rows[0].n;
      }
    });
    expect(await removing).toBe(false);
    expect(await app.deps.evidence.has(upload.sha256)).toBe(true);
  });

  it("is done once a day, for what is old", async () => {
    const [orphan, young] = [await put(app.deps.evidence, "orphan"), await put(app.deps.evidence, "young")];
    const [file] = await store(org.id, await receive("old.txt", "old but referred to"));
    for (const sha256 of [orphan.sha256, file!.sha256]) makeOld(sha256, 25);
    await cleanEvidence(app.deps, 60_000);
    expect(await app.deps.evidence.has(orphan.sha256)).toBe(false);
    expect(await app.deps.evidence.has(young.sha256)).toBe(true);
    expect(await app.deps.evidence.has(file!.sha256)).toBe(true);
    expect(app.logged()).toContain('"orphans":1');
    await app.deps.evidence.remove(young.sha256);
  });

  it("is left to the installation that a restored copy may share the store with, until that one is gone", async () => {
    const orphan = await put(app.deps.evidence, "received since by the original");
    makeOld(orphan.sha256, 48);
    await app.deps.evidence.mark.write("the original's");
    await takeEvidence(app.deps, { asOf: "2026-11-23T02:17:00.000Z", bringsFiles: true });
    await cleanEvidence(app.deps, 60_000);
    await verifyEvidence(app.deps, { olderThan: "1", removeOrphans: true });
    expect(lines).toContain(`orphan  ${orphan.sha256}`);
    expect(lines).toContainEqual(expect.stringMatching(/restored as of 2026-11-23T02:17:00.000Z.*take-over/));
    expect(await removeOrphan(app.deps, orphan.sha256)).toBe(false);
    expect(await app.deps.evidence.has(orphan.sha256)).toBe(true);
    await takeOver(app.deps);
    const { rows } = await app.deps.db.pool.query(
      "select resource from audit_log where org_id = $1 and action = 'evidence_taken_over'",
      [instanceLogId],
    );
    expect(rows).toEqual([{ resource: app.deps.evidence.mark.place }]);
    await cleanEvidence(app.deps, 60_000);
    expect(await app.deps.evidence.has(orphan.sha256)).toBe(false);
  });
});

describe("waybill admin evidence verify", () => {
  it("says that all is well", async () => {
    await store(org.id, await receive("fine.txt", "fine"));
    await verifyEvidence(app.deps, { olderThan: "24" });
    expect(lines).toEqual([
      expect.stringMatching(/^Checked \d+ files, \d+ bytes$/),
      "Found 0 orphans, 0 bytes",
    ]);
  });

  it("names what is damaged, missing or an orphan, and removes orphans only when told to", async () => {
    const [damaged, missing] = await store(
      org.id,
      await receive("d", "to damage"),
      await receive("m", "to miss"),
    );
    writeFileSync(pathOf(damaged!.sha256), "damaged!!");
    await rm(pathOf(missing!.sha256));
    const orphan = await put(app.deps.evidence, "orphan");
    makeOld(orphan.sha256, 2);
    const verifying = verifyEvidence(app.deps, { olderThan: "1.5" });
    await expect(verifying).rejects.toThrow("2 files not as stored");
    expect(lines).toContain(`damaged  ${damaged!.sha256}`);
    expect(lines).toContain(`missing  ${missing!.sha256}`);
    expect(lines).toContain(`orphan  ${orphan.sha256}`);
    expect(await app.deps.evidence.has(orphan.sha256)).toBe(true);

    await store(org.id, await receive("d", "to damage"), await receive("m", "to miss"));
    lines.length = 0;
    await verifyEvidence(app.deps, { olderThan: "3", removeOrphans: true });
    expect(await app.deps.evidence.has(orphan.sha256)).toBe(true);
    await verifyEvidence(app.deps, { olderThan: "1", removeOrphans: true });
    expect(lines.slice(-3)).toEqual([
      `removed  ${orphan.sha256}`,
      "Removed 1 orphan, 6 bytes",
      "Removed 0 unfinished uploads",
    ]);
    expect(await app.deps.evidence.has(orphan.sha256)).toBe(false);
  });

  it.each(["0", "0.5", "-1", "soon", "1e3", ""])("refuses --older-than %j", async (olderThan) => {
    await expect(verifyEvidence(app.deps, { olderThan })).rejects.toThrow("must be a number of hours");
  });
});
