import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, describe, expect, it } from "vitest";

import { readConfig, readConfigInto } from "./config.ts";

describe("readConfigInto", () => {
  const folder = mkdtempSync(join(tmpdir(), "waybill-into-"));
  const file = join(folder, "url");
  writeFileSync(file, "postgres://u:p@production/waybill\n");
  afterAll(() => rmSync(folder, { recursive: true }));

  const scratch = "postgres://u:p@scratch/waybill";
  const given = [
    { DATABASE_URL_FILE: file },
    { DATABASE_URL: "postgres://u:p@production/waybill" },
    { DATABASE_URL: "postgres://u:p@pooler/waybill", WAYBILL_DATABASE_DIRECT_URL_FILE: file },
    { DATABASE_URL: "postgres://u:p@production/waybill", DATABASE_READ_URL_FILE: file },
  ];

  it.each(given)("has nothing of the database that runs, with %o", (environment) => {
    const intoUrl = readConfigInto(scratch, environment);
    expect(intoUrl).toMatchObject({ databaseUrl: scratch });
    const intoFolder = readConfigInto(folder, environment);
    expect(intoFolder).toMatchObject({ databaseUrl: undefined, dataDir: folder });
    expect(JSON.stringify([intoUrl, intoFolder])).not.toMatch(/production|pooler/);
  });
});

describe("a number of bytes", () => {
  it("may be as large as its default", () => {
    const settings = { WAYBILL_WAL_TO: "/var/lib/wal", WAYBILL_MAX_WAL_ARCHIVE_BYTES: "17179869184" };
    expect(readConfig(settings).wal).toMatchObject({ maxWaitingBytes: 17_179_869_184 });
  });
});
