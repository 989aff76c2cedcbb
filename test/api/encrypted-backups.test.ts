import { randomBytes, randomUUID } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import { generateIdentity, identityToRecipient } from "age-encryption";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";

import { readConfig } from "../../src/config.ts";
import { backupName, encryptedSuffix } from "../../src/domain/backups.ts";
import { DamagedArchive } from "../../src/lib/tar-reader.ts";
import {
  openArchive,
  openEncryptedSink,
  requireDigest,
} from "../../src/modules/maintenance/backups/encryption-service.ts";
import { openFileSink } from "../../src/modules/maintenance/backups/file-sink.ts";
import {
  listBackups,
  lookAtBackup,
  pruneBackups,
} from "../../src/modules/maintenance/backups/folder-service.ts";
import { readBackup } from "../../src/modules/maintenance/backups/read-service.ts";
import { writeBackup } from "../../src/modules/maintenance/backups/write-service.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { attestPassed } from "../support/attestations.ts";
import { urlOf } from "../support/databases.ts";
import { besideDivision, restoredCode, restoreTarget } from "../support/restoring.ts";
import { spawnWaybill } from "../support/server-process.ts";
import { folderPlace, openFile } from "../../src/modules/maintenance/backups/place-service.ts";
import { withOneByteChanged } from "../support/damage.ts";
import { amount } from "../support/thorough.ts";

let app: TestApp;
let org: TestOrg;
let folder: string;
let [mine, other, foreign] = ["", "", ""];
let [myRecipient, otherRecipient] = ["", ""];

beforeAll(async () => {
  app = await startTestApp({}, { maintained: true });
  org = await app.org();
  for (const trail of ["one", "two"]) await attestPassed(org, trail, "unit");
  folder = await mkdtemp(join(tmpdir(), "waybill-encrypted-"));
  [mine, other, foreign] = await Promise.all([generateIdentity(), generateIdentity(), generateIdentity()]);
  [myRecipient, otherRecipient] = await Promise.all([identityToRecipient(mine), identityToRecipient(other)]);
});
afterAll(async () => {
  await app.close();
  await rm(folder, { recursive: true });
});

const as =
  (...identities: string[]) =>
  async () =>
    identities;

interface Making {
  at?: number;
  into?: string;
  secretKey?: string;
  evidence?: "full" | "none";
  /** Made as by former versions, whose backups say nothing of themselves. */
  former?: boolean;
}

/** Makes an encrypted backup. @returns its file, and the digest of what was written. */
async function make(
  recipients: string[],
  { at = app.clock.now(), into = folder, secretKey, evidence = "full", former = false }: Making = {},
): Promise<{ id: string; path: string; sha256: string }> {
  const id = randomUUID();
  const path = join(into, backupName(at, id) + encryptedSuffix);
  const facts = former ? undefined : ({ kind: "portable", evidence } as const);
  const sink = await openEncryptedSink(() => openFileSink(path), recipients, facts);
  await writeBackup(app.deps, sink, {
    id,
    program: "1",
    evidence,
    ...(secretKey !== undefined && { secretKey }),
  });
  await sink.finish();
  expect(sink.bytes()).toBe((await stat(path)).size);
  return { id, path, sha256: sink.sha256() };
}

// On Citus no backup is made by this program.
describe.skipIf(inject("cluster"))("an encrypted backup", () => {
  it("is read by each of its recipients and nobody else", async () => {
    const { path, id } = await make([myRecipient, otherRecipient]);
    const bytes = await readFile(path);
    expect(bytes.subarray(0, 22).toString()).toBe("age-encryption.org/v1\n");
    for (const clear of ["waybill-backup.json", "manifest.jsonl", org.name])
      expect(bytes.includes(clear)).toBe(false);
    for (const identity of [mine, other]) {
      const found = await lookAtBackup(openFile(path, undefined), as(identity));
      expect(found).toMatchObject({ head: { id }, end: { id, evidence_files: 0 }, bytes: bytes.length });
      expect(found.end.rows).toBeGreaterThan(10);
      expect(found.secretKey).toBeUndefined();
    }
    await expect(lookAtBackup(openFile(path, undefined), as(foreign))).rejects.toThrow(
      "is encrypted for others",
    );
    await expect(lookAtBackup(openFile(path, undefined))).rejects.toThrow(
      "is encrypted: name the file with its identity",
    );
    expect((await lookAtBackup(openFile(path, undefined), as(foreign, mine))).head.id).toBe(id);
  });

  it("is refused when any piece of it was changed, or its end is missing", async () => {
    const { path, sha256 } = await make([myRecipient]);
    await requireDigest(openFile(path, undefined), sha256);
    const whole = await readFile(path);
    const changed = join(folder, "changed.tar.age");
    for (const at of [30, 250, 1_000, whole.length >> 1, whole.length - 1]) {
      const bytes = Buffer.from(whole);
      bytes[at]! ^= 1;
      await writeFile(changed, bytes);
      await expect(
        readBackup(openArchive(openFile(changed, undefined), as(mine))),
        `byte ${at}`,
      ).rejects.toThrow(/damaged|encrypted for others/);
      await expect(requireDigest(openFile(changed, undefined), sha256)).rejects.toThrow(DamagedArchive);
    }
    for (const length of [100, 500, whole.length >> 1, whole.length - 1]) {
      await writeFile(changed, whole.subarray(0, length));
      await expect(
        readBackup(openArchive(openFile(changed, undefined), as(mine))),
        `${length} bytes`,
      ).rejects.toThrow(DamagedArchive);
    }
  });

  it("is refused when any byte is another", async () => {
    const whole = await readFile((await make([myRecipient])).path);
    const changed = join(folder, "another-byte.tar.age");
    const flips = Number(process.env["WAYBILL_TEST_FLIPS"] ?? amount(10, 30));
    for (const { at, bytes } of withOneByteChanged(whole, flips)) {
      await writeFile(changed, bytes);
      const reading = readBackup(openArchive(openFile(changed, undefined), as(mine)));
      // Where it says whom it is for, it may be for somebody else now; where it says that it is encrypted, it is not.
      await expect(reading, `byte ${at} of ${whole.length}`).rejects.toThrow(
        /damaged|encrypted for others|no backup of Waybill/,
      );
    }
  });

  it("is restored as any other", async () => {
    const { path } = await make([myRecipient]);
    const clear = join(folder, "clear.tar");
    const sink = await openFileSink(clear);
    for await (const piece of openArchive(openFile(path, undefined), as(mine))) await sink.write(piece);
    await sink.finish();
    const target = await restoreTarget(folder);
    try {
      expect(besideDivision((await target.restore(clear)).warnings)).toEqual([]);
    } finally {
      await target.remove();
    }
  });

  it("leaves nothing when the disk below fails, and waits for it otherwise", async () => {
    let waiting = 0;
    let most = 0;
    const written: Buffer[] = [];
    const slow = {
      write: async (piece: Buffer) => {
        await new Promise((resolve) => setImmediate(resolve));
        waiting -= piece.length;
        written.push(piece);
      },
      finish: async () => {},
      abandon: async () => {},
    };
    const sink = await openEncryptedSink(async () => slow, [myRecipient]);
    for (let count = 0; count < 64; count += 1) {
      waiting += 65_536;
      await sink.write(randomBytes(65_536));
      most = Math.max(most, waiting);
    }
    await sink.finish();
    expect(most).toBeLessThan(8 * 65_536);

    let abandoned = false;
    const full = Object.assign(new Error("no space"), { code: "ENOSPC" });
    const failing = await openEncryptedSink(
      async () => ({
        write: () => Promise.reject(full),
        finish: async () => {},
        abandon: async () => void (abandoned = true),
      }),
      [myRecipient],
    );
    const write = async (): Promise<void> => {
      for (let count = 0; count < 64; count += 1) await failing.write(randomBytes(65_536));
      await failing.finish();
    };
    await expect(write()).rejects.toBe(full);
    await failing.abandon();
    expect(abandoned).toBe(true);
  });

  it("is made for recipients that were copied in full", async () => {
    const cut = `${myRecipient.slice(0, -1)}${myRecipient.endsWith("q") ? "p" : "q"}`;
    const open = () => Promise.reject(new Error("nothing is to be opened"));
    await expect(openEncryptedSink(open, [cut])).rejects.toThrow("is not one of age");
  });
});

describe.skipIf(inject("cluster"))("a folder with encrypted backups", () => {
  it("is listed and cleared without an identity", async () => {
    const into = join(folder, "mixed");
    await mkdir(into);
    const day = 86_400;
    const times = [1, 2, 3, 4].map((count) => 1_700_000_000 + count * day);
    const made = [];
    for (const at of times) made.push(await make([myRecipient], { at, into }));
    const listed = await listBackups(folderPlace(into));
    expect(listed.encrypted.map(({ id, made_at }) => [id, made_at])).toEqual(
      made.map(({ id }, index) => [id.slice(0, 8), times[index]]),
    );
    expect([listed.backups, listed.damaged]).toEqual([[], []]);
    const { removed } = await pruneBackups(folderPlace(into), { days: 2, weeks: 0, months: 0 });
    expect(removed).toEqual(made.slice(0, 2).map(({ path }) => path));
  });

  const day = 86_400;
  const noon = Date.UTC(2023, 10, 15, 12) / 1000;
  const pathsOf = (made: { path: string }[]): string[] => made.map(({ path }) => path);
  const prune = (into: string, days: number) =>
    pruneBackups(folderPlace(into), { days, weeks: 0, months: 0 });

  it("keeps the last one with files beside later ones of rows alone, which anybody can tell apart", async () => {
    const into = join(folder, "of-rows");
    await mkdir(into);
    const before = await make([myRecipient, otherRecipient], { at: noon - day, into });
    const night = await make([myRecipient, otherRecipient], { at: noon, into });
    const upgrades = [];
    for (const days of [0, 1, 2])
      upgrades.push(await make([myRecipient], { at: noon + 60 + days * day, into, evidence: "none" }));
    const { encrypted } = await listBackups(folderPlace(into));
    expect(encrypted.map(({ facts }) => facts?.evidence)).toEqual(["full", "full", "none", "none", "none"]);
    const { removed, kept } = await prune(into, 1);
    expect([removed, kept]).toEqual([pathsOf([before, ...upgrades.slice(0, 2)]), []]);
    expect(await readdir(into)).toHaveLength(2);
    expect((await lookAtBackup(openFile(night.path, undefined), as(other))).head.id).toBe(night.id);
  });

  it("keeps those of former versions, which do not tell, while no other is known to have files", async () => {
    const into = join(folder, "former");
    await mkdir(into);
    const former = [];
    for (const days of [0, 1, 2])
      former.push(await make([myRecipient], { at: noon + days * day, into, former: true }));
    const upgrade = await make([myRecipient], { at: noon + 3 * day, into, evidence: "none" });
    expect((await listBackups(folderPlace(into))).encrypted[0]?.facts).toBeUndefined();
    const first = await prune(into, 1);
    expect(first.removed).toEqual([]);
    expect(first.kept.map(({ path }) => path)).toEqual(pathsOf(former.slice(0, 2)));
    expect(first.kept[0]?.reason).toMatch(/^it may have files of evidence/);
    await make([myRecipient], { at: noon + 4 * day, into });
    const { removed, kept } = await prune(into, 1);
    expect([removed, kept]).toEqual([pathsOf([...former, upgrade]), []]);
  });
});

describe("settings", () => {
  const to = { WAYBILL_BACKUP_TO: "/mnt/backups" };
  it("name recipients and identities, and switch drills off that could not be", () => {
    const encrypted = { ...to, WAYBILL_BACKUP_ENCRYPT_TO: `${myRecipient}, ${otherRecipient}` };
    const { backups } = readConfig(encrypted);
    expect(backups).toMatchObject({ encryptTo: [myRecipient, otherRecipient], drillAt: undefined });
    const both = readConfig({ ...encrypted, WAYBILL_BACKUP_IDENTITY: `# created today\n${mine}\n` }).backups;
    expect(both.identities).toEqual([mine]);
    expect(both.drillAt?.text).toBe("43 3 * * 0");
    expect(readConfig(to).backups.encryptTo).toEqual([]);
    const drilled = { ...encrypted, WAYBILL_BACKUP_DRILL_AT: "1 1 * * *" };
    expect(() => readConfig(drilled)).toThrow("WAYBILL_BACKUP_IDENTITY must be set");
  });

  it("are refused where they are no recipients, and not repeated where they are secret", () => {
    expect(() => readConfig({ WAYBILL_BACKUP_ENCRYPT_TO: "age1short" })).toThrow("WAYBILL_BACKUP_ENCRYPT_TO");
    const wrong = () => readConfig({ WAYBILL_BACKUP_IDENTITY: "hidden" });
    expect(wrong).toThrow("WAYBILL_BACKUP_IDENTITY");
    expect(wrong).not.toThrow("hidden");
  });
});

describe.skipIf(inject("cluster"))("waybill backup --encrypt-to", { timeout: 180_000 }, () => {
  const run = async (args: string[], more: Record<string, string> = {}) => {
    const child = spawnWaybill(args, {
      DATABASE_URL: urlOf(inject("postgres"), app.database),
      WAYBILL_EVIDENCE_DIR: app.deps.config.evidence.dir,
      WAYBILL_DATA_DIR: join(folder, "data"),
      ...more,
    });
    const [out, errors, code] = await Promise.all([
      text(child.stdout!),
      text(child.stderr!),
      new Promise((resolve) => child.once("close", resolve)),
    ]);
    return { code, out, errors };
  };

  it("takes the secret key along, and a restore puts it where there is none", async () => {
    const secret = randomBytes(32).toString("base64url");
    const into = join(folder, "by-command");
    const identity = join(folder, "identity.txt");
    await writeFile(identity, `# public key: ${myRecipient}\n${mine}\n`, { mode: 0o600 });
    const made = await run(
      ["backup", "--to", `${into}/`, "--encrypt-to", myRecipient, "--with-secret-key", "--verify", "--json"],
      { WAYBILL_SECRET_KEY: secret },
    );
    expect(made).toMatchObject({ code: 0, errors: "" });
    const { file, bytes } = JSON.parse(made.out) as { file: string; bytes: number };
    expect(await readdir(into)).toEqual([file.slice(into.length + 1)]);
    expect([bytes, file.endsWith(".tar.age")]).toEqual([(await stat(file)).size, true]);
    expect((await readFile(file)).includes(secret)).toBe(false);
    expect((await lookAtBackup(openFile(file, undefined), as(mine))).secretKey).toBe(secret);

    expect(await run(["backup", "check", file])).toMatchObject({ code: 1 });
    expect(await run(["backup", "check", file, "--identity", identity])).toMatchObject({
      code: 0,
      errors: "",
    });
    const shown = await run(["backup", "show", file], { WAYBILL_BACKUP_IDENTITY_FILE: identity });
    expect(shown.code).toBe(0);
    expect(shown.out).not.toContain(secret);
    expect((await run(["backup", "list", into])).out).toMatch(/encrypted .*\.tar\.age/);

    const target = await restoreTarget(folder);
    try {
      const dataDir = join(folder, "restored");
      const place = {
        DATABASE_URL: target.url,
        WAYBILL_DATA_DIR: dataDir,
        WAYBILL_EVIDENCE_DIR: target.evidenceDir,
      };
      const restored = await run(["restore", file, "--identity", identity], place);
      expect(restored, restored.errors).toMatchObject({ code: restoredCode() });
      expect(await readFile(join(dataDir, "secret-key"), "utf8")).toBe(secret);
      expect((await stat(join(dataDir, "secret-key"))).mode & 0o777).toBe(0o600);
      await writeFile(join(dataDir, "secret-key"), "a key of another installation, which stays");
      await run(["restore", file, "--identity", identity, "--force-nonempty"], place);
      expect(await readFile(join(dataDir, "secret-key"), "utf8")).toContain("which stays");
    } finally {
      await target.remove();
    }
  });

  it("refuses what does not go together, and recommends encryption", async () => {
    const to = ["backup", "--to", join(folder, "plain.tar")];
    expect(await run([...to, "--with-secret-key"])).toMatchObject({ code: 2 });
    for (const none of ["age1no", mine]) {
      const refused = await run([...to, "--encrypt-to", none]);
      expect(refused.code).toBe(2);
      expect(refused.errors).toContain("age1…");
      expect(refused.errors).not.toContain(none);
    }
    expect(await run([...to, "--encrypt-to", myRecipient, "--evidence", "new"])).toMatchObject({ code: 2 });
    const plain = await run(to);
    expect(plain.code).toBe(0);
    expect(plain.errors).toContain("--encrypt-to");
    const byDefault = await run(["backup", "--to", "-"], { WAYBILL_BACKUP_ENCRYPT_TO: myRecipient });
    expect(byDefault.out.startsWith("age-encryption.org/v1\n")).toBe(true);
  });
});
