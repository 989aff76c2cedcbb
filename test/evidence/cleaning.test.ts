import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { afterAll, beforeAll, expect, it } from "vitest";

import { sha256 } from "../../src/lib/hash.ts";
import { cleanEvidence } from "../../src/modules/process/evidence/verify-service.ts";
import { startTestApp, type TestApp } from "../support/app.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

/** Puts a file at an address as if it had been there for longer than an upload takes. */
function putOld(address: string): void {
  const path = join(app.deps.config.evidence.dir, address.slice(0, 2), address);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, "");
  const longAgo = Date.now() / 1000 - 25 * 3600;
  utimesSync(path, longAgo, longAgo);
}

it("stops in time also where it finds nothing, and goes on from there the next time", async () => {
  const org = await app.org();
  const addresses = Array.from({ length: 1001 }, (_, at) => sha256(`content ${at}`).toString("hex")).sort();
  addresses.forEach(putOld);
  const last = addresses.pop()!;
  await app.deps.db.pool.query(
    `insert into evidence (org_id, id, sha256, size, filename, content_type, created_at)
     select $1, gen_random_uuid(), sha256, 0, 'f', 'text/plain', now() from unnest($2::text[]) sha256`,
    [org.id, addresses],
  );
  const { evidence } = app.deps;
  // Five hundred are looked at in any case.
  await cleanEvidence(app.deps, 0);
  await cleanEvidence(app.deps, 0);
  expect(await evidence.has(last)).toBe(true);
  const first = "0".repeat(64);
  putOld(first);
  await cleanEvidence(app.deps, 0);
  expect([await evidence.has(first), await evidence.has(last)]).toEqual([true, false]);
  // At the end it begins anew.
  await cleanEvidence(app.deps, 60_000);
  await cleanEvidence(app.deps, 60_000);
  expect(await evidence.has(first)).toBe(false);
});
