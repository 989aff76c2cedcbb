import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { query, start, usedDataDir } from "../../../test/support/managed-postgres.ts";
import { replaceCluster } from "./index.ts";

test("a database that a server has begun to work with while files came is not replaced", async () => {
  const dataDir = await usedDataDir();
  let began: Awaited<ReturnType<typeof start>> | undefined;
  const replaced = replaceCluster(dataDir, { replace: true }, async () => {
    began = await start(dataDir);
  });
  await expect(replaced).rejects.toThrow(/A server is running on the data directory/);
  expect(await query(began!.connection, "select 1 as one")).toEqual([{ one: 1 }]);
  // It starts again as any other.
  expect(existsSync(join(dataDir, "restore-unfinished"))).toBe(false);
});
