import { randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from "vitest";

import { backupName } from "../../src/domain/backups.ts";
import { BucketError } from "../../src/lib/bucket/bucket.ts";
import type { S3Access } from "../../src/lib/bucket/client.ts";
import { DamagedArchive } from "../../src/lib/tar-reader.ts";
import { mebibyte } from "../../src/lib/units.ts";
import { openArchive } from "../../src/modules/maintenance/backups/encryption-service.ts";
import {
  findEarlierEvidence,
  listBackups,
  lookAtBackup,
  pruneBackups,
} from "../../src/modules/maintenance/backups/folder-service.ts";
import {
  folderPlace,
  openPlace,
  type Place,
  placeAbove,
  removeAbandonedBackups,
} from "../../src/modules/maintenance/backups/place-service.ts";
import { readBackup } from "../../src/modules/maintenance/backups/read-service.ts";
import { writeBackup } from "../../src/modules/maintenance/backups/write-service.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { urlOf } from "../support/databases.ts";
import { keepEvidence } from "../support/evidence.ts";
import { findRealBucket, withoutS3 } from "../support/real-s3.ts";
import { restoreTarget } from "../support/restoring.ts";
import { type S3Server, startS3Server } from "../support/s3-server.ts";
import { spawnWaybill } from "../support/server-process.ts";

const credentials = { accessKey: "known", secretKey: "a secret", region: "us-east-1" };

let server: S3Server;
let access: S3Access;
let place: Place;
let folder: string;
beforeAll(async () => {
  server = await startS3Server(credentials);
  access = { ...credentials, endpoint: server.endpoint };
  folder = await mkdtemp(join(tmpdir(), "waybill-places-"));
});
beforeEach(async () => {
  await server.clear();
  place = openPlace(`s3://${server.bucket}/nightly`, access);
});
afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true });
});

/** The real command line, until it ends. */
async function waybill(
  args: string[],
  environment: Record<string, string>,
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawnWaybill(args, environment);
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout!),
    text(child.stderr!),
    once(child, "close"),
  ]);
  return { code: code as number | null, stdout, stderr };
}

async function write(to: Place, name: string, bytes: Buffer): Promise<void> {
  const sink = await to.create(name);
  try {
    // In pieces that fit no part.
    for (let from = 0; from < bytes.length; from += 700_001)
      await sink.write(bytes.subarray(from, from + 700_001));
    await sink.finish();
  } catch (error) {
    await sink.abandon();
    throw error;
  }
}

async function bytesOf(from: Place, name: string): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of from.stream(name)) pieces.push(piece);
  return Buffer.concat(pieces);
}

const real = findRealBucket();
const places = [
  ["a folder", () => folderPlace(join(folder, randomUUID()))],
  ["a bucket", () => place],
  ["a bucket of a real service", () => openPlace(`s3://${real?.bucket}/${randomUUID()}`, real?.access)],
] as const;

describe.each(places)("%s", (name, open) => {
  it("keeps files as they were written, and nothing of what was not finished", async ({ skip }) => {
    if (name.endsWith("service") && real === undefined) skip(withoutS3);
    const at = open();
    await at.prepare();
    const sizes = [1, 700_001, 8 * mebibyte, 8 * mebibyte + 1, 17 * mebibyte];
    for (const size of sizes) {
      const bytes = randomBytes(size);
      await write(at, `${size}.bin`, bytes);
      expect(bytes.equals(await bytesOf(at, `${size}.bin`)), `${size} bytes`).toBe(true);
      const tail = Math.min(size, 300_000);
      expect((await at.read(`${size}.bin`, size - tail, tail)).equals(bytes.subarray(size - tail))).toBe(
        true,
      );
    }
    expect(await at.putNew("small", Buffer.from("one"))).toBe(true);
    expect(await at.putNew("small", Buffer.from("two"))).toBe(false);
    expect((await bytesOf(at, "small")).toString()).toBe("one");

    const sink = await at.create("unfinished.bin");
    await sink.write(randomBytes(9 * mebibyte));
    expect(await at.find("unfinished.bin")).toBeUndefined();
    await sink.abandon();
    expect(await at.find("unfinished.bin")).toBeUndefined();

    const below = at.below("deeper");
    await below.prepare();
    await write(below, "inside", Buffer.from("x"));
    const { files, folders } = await at.list();
    expect(files.map((file) => [file.name, file.bytes])).toEqual(
      [...sizes.map((size) => [`${size}.bin`, size]), ["small", 3]].toSorted((one, other) =>
        String(one[0]) < String(other[0]) ? -1 : 1,
      ),
    );
    expect(folders).toEqual(["deeper"]);
    for (const { modified_at } of files) expect(Math.abs(modified_at - Date.now() / 1000)).toBeLessThan(60);
    for (const file of files) await at.remove(file.name);
    await at.remove("small");
    await below.remove("inside");
    expect((await at.list()).files).toEqual([]);
    await expect(bytesOf(at, "small")).rejects.toMatchObject({ code: "ENOENT" });
  });
});

it.each([
  ["s3://backups/a/b", "s3://backups/a"],
  ["s3://backups/a", "s3://backups"],
  ["s3://backups", "s3://backups"],
  ["/mnt/a", "/mnt"],
])("the place above %s is %s", (path, above) => {
  expect(placeAbove(openPlace(path, access), access).path).toBe(above);
});

describe("a bucket that fails", () => {
  // More than a part, of which one has eight megabytes.
  const bytes = randomBytes(9 * mebibyte);

  it("is asked again while it is busy or cuts connections, and nothing is lost", async () => {
    await server.failNext("POST", 1);
    await server.cutNext("PUT", 2);
    await write(place, "patient.bin", bytes);
    await server.cutNext("GET", 2);
    expect(bytes.equals(await bytesOf(place, "patient.bin"))).toBe(true);
    expect(await server.uploads()).toEqual([]);
  });

  it("in the middle leaves nothing that looks complete, nor parts", async () => {
    await server.failPartsAfter(1);
    await expect(write(place, "failing.bin", bytes)).rejects.toThrow(
      `s3://${server.bucket}/nightly/failing.bin: SlowDown (503)`,
    );
    expect([await server.keys(), await server.uploads()]).toEqual([[], []]);
  });

  it("at the end leaves nothing either", async () => {
    const sink = await place.create("late.bin");
    await sink.write(bytes);
    await server.failNext("POST", 3);
    await expect(sink.finish()).rejects.toThrow(BucketError);
    expect(await server.keys()).toEqual([]);
    await sink.abandon();
    expect([await server.keys(), await server.uploads()]).toEqual([[], []]);
  });

  it("so that parts cannot be removed, has them removed a day later", async () => {
    const name = backupName(1_700_000_000, randomUUID());
    for (const each of [name, "somebody-elses.bin"]) {
      const sink = await place.create(each);
      await sink.write(bytes);
      await server.failNext("DELETE", 3);
      await sink.abandon();
    }
    expect(await server.uploads()).toHaveLength(2);
    expect(await removeAbandonedBackups(place)).toEqual([]);
    await server.age(25 * 3_600);
    expect(await removeAbandonedBackups(place)).toEqual([place.pathOf(name)]);
    expect(await server.uploads()).toEqual(["nightly/somebody-elses.bin"]);
  });

  it("is refused at the beginning, in a sentence without the secret", async () => {
    const wrong = openPlace(`s3://${server.bucket}/nightly`, { ...access, secretKey: "another secret" });
    const error = await wrong.create("a.tar").catch((failure: unknown) => failure);
    expect(String(error)).toContain("nightly/a.tar: SignatureDoesNotMatch (403)");
    expect(JSON.stringify(error)).not.toContain("another secret");
    await expect(openPlace("s3://elsewhere/x", access).list()).rejects.toThrow("NoSuchBucket (404)");
    const nobody = openPlace("s3://elsewhere/x", { ...access, endpoint: "http://127.0.0.1:9", attempts: 1 });
    await expect(nobody.list()).rejects.toThrow("s3://elsewhere/x/: connect ECONNREFUSED");
    expect(() => openPlace("s3://elsewhere/x", undefined)).toThrow("WAYBILL_BACKUP_S3_ACCESS_KEY");
    expect(() => openPlace("ftp://elsewhere/x", access)).toThrow("is no place");
  });

  it("that has another object now than a moment ago is no mixture of both", async () => {
    // More than is read ahead.
    const size = 20 * mebibyte;
    await write(place, "changing.bin", randomBytes(size));
    const reading = place.stream("changing.bin")[Symbol.asyncIterator]();
    await reading.next();
    await server.write("nightly/changing.bin", randomBytes(size));
    const rest = async (): Promise<void> => {
      while ((await reading.next()).done !== true);
    };
    await expect(rest()).rejects.toThrow("412");
  });
});

// On Citus no backup is made by this program.
describe.skipIf(inject("cluster"))("backups in a bucket", () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startTestApp({}, { maintained: true });
    const org = await app.org();
    for (const size of [100, 100_000]) await keepEvidence(app, org, randomBytes(size));
  });
  afterAll(() => app.close());

  async function make(at: number, earlier?: Map<string, string>): Promise<{ id: string; name: string }> {
    const id = randomUUID();
    const name = backupName(at, id);
    const sink = await place.create(name);
    const evidence = earlier === undefined ? "full" : "new";
    await writeBackup(app.deps, sink, { id, program: "1", evidence, ...(earlier && { earlier }) });
    await sink.finish();
    return { id, name };
  }

  it("are listed, looked at, checked, referred to and pruned as in a folder", async () => {
    const full = await make(1_700_000_000);
    const next = await make(1_700_086_400, await findEarlierEvidence(place));
    const found = await lookAtBackup({ place, name: next.name });
    expect(found).toMatchObject({ path: place.pathOf(next.name), end: { needs: [full.id] } });
    expect((await readBackup(openArchive({ place, name: full.name }))).head.id).toBe(full.id);
    await server.write(`nightly/${backupName(1_700_000_500, randomUUID())}`, Buffer.from("no backup"));
    const listed = await listBackups(place);
    expect(listed.backups.map(({ head }) => head.id)).toEqual([full.id, next.id]);
    expect(listed.damaged).toHaveLength(1);

    const damaged = (await server.read(`nightly/${full.name}`))!;
    damaged[damaged.length / 2] = damaged[damaged.length / 2]! ^ 1;
    await server.write(`nightly/${full.name}`, damaged);
    await expect(readBackup(openArchive({ place, name: full.name }))).rejects.toThrow(DamagedArchive);

    const third = await make(1_700_172_800);
    const { removed, kept } = await pruneBackups(place, { days: 1, weeks: 0, months: 0 });
    // All were made by the clock of the database on the same day, so the newest stays, with what it needs.
    expect(removed).toHaveLength(2);
    expect(kept).toEqual([]);
    expect((await listBackups(place)).backups.map(({ head }) => head.id)).toEqual([third.id]);
  });

  it.for(places.slice(1))("are restored from %s", async ([where, open], { skip }) => {
    if (where.endsWith("service") && real === undefined) skip(withoutS3);
    place = open();
    const { name } = await make(1_700_000_000);
    const copy = await restoreTarget(folder);
    try {
      const { end } = await copy.restore("", { open: () => openArchive({ place, name }) });
      expect(end.evidence_files).toBe(2);
    } finally {
      await copy.remove();
    }
  });

  it("are made by the command line, which says in sentences what is wrong", async () => {
    const environment = {
      DATABASE_URL: urlOf(inject("postgres"), app.database),
      WAYBILL_DATA_DIR: join(folder, "data"),
      WAYBILL_BACKUP_S3_ENDPOINT: server.endpoint,
      WAYBILL_BACKUP_S3_ACCESS_KEY: credentials.accessKey,
      WAYBILL_BACKUP_S3_SECRET_KEY: credentials.secretKey,
    };
    const to = `s3://${server.bucket}/cli`;
    const made = await waybill(
      ["backup", "--to", to, "--verify", "--json", "--evidence", "none"],
      environment,
    );
    expect(made.code, made.stderr).toBe(0);
    const { file } = JSON.parse(made.stdout) as { file: string };
    expect(await server.keys()).toEqual([file.slice(`s3://${server.bucket}/`.length)]);
    const checked = await waybill(["backup", "check", `${to}/none.tar`], environment);
    expect([checked.code, checked.stderr]).toEqual([2, `There is no ${to}/none.tar\n`]);
    const again = await waybill(["backup", "--to", file], environment);
    expect([again.code, again.stderr]).toEqual([
      2,
      `${file} is there already: name another file, or a folder\n`,
    ]);
    const refused = await waybill(["backup", "--to", to], {
      ...environment,
      WAYBILL_BACKUP_S3_SECRET_KEY: "another secret",
    });
    const reason = /^s3:\S+\/cli\/waybill-\S+\.tar: SignatureDoesNotMatch \(403\)\n?$/;
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(reason)]);
    const { rows } = await app.deps.db.pool.query<{ ok: boolean; problem: string | null }>(
      "select ok, problem from backup_runs order by started_at",
    );
    expect(rows).toEqual([
      { ok: true, problem: null },
      { ok: false, problem: expect.stringMatching(reason) },
    ]);
  });
});
