import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { startFirstTime } from "../../src/cli/first-start.ts";
import { print } from "../../src/cli/output.ts";
import { bootstrap } from "../../src/modules/identity/bootstrap/service.ts";
import { startTestApp, type TestApp } from "../support/app.ts";

let folder: string;
let file: string;
let app: TestApp;
let printed: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "waybill-first-"));
  file = join(folder, "initial-admin-key");
  app = await startTestApp({ WAYBILL_DATA_DIR: folder });
  printed = "";
  vi.spyOn(print, "line").mockImplementation((text = "") => void (printed += text));
});
afterEach(async () => {
  vi.restoreAllMocks();
  await app.close();
  await rm(folder, { recursive: true });
});

const keptKey = async (): Promise<string> => (await readFile(file, "utf8")).trim();
const usersThere = async (): Promise<string[]> =>
  (await app.deps.db.pool.query<{ name: string }>("select name from users")).rows.map(({ name }) => name);

describe("the first start of an empty server", () => {
  it("makes an administrator and an organization, prints the key once and keeps it for the owner alone", async () => {
    await startFirstTime(app.deps, true);
    const key = await keptKey();
    expect(printed.split(key)).toHaveLength(2);
    expect(printed).toContain(file);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readdir(folder)).toEqual(["initial-admin-key"]);
    expect(app.logged()).not.toContain(key);

    const admin = app.as(key);
    const organizations = (await admin.get("/organizations")).json;
    expect(
      organizations.map((org: { name: string; kind: string; role: string }) => [
        org.name,
        org.kind,
        org.role,
      ]),
    ).toEqual([
      ["admin", "personal", "admin"],
      ["main", "shared", "admin"],
    ]);
    expect((await admin.get("/user/default-org")).json).toEqual({ default_org_name: "main" });
    expect((await admin.post("/organizations", { name: "more" })).status).toBe(201);
    expect((await admin.get("/audit-log/main")).json.entries).toMatchObject([
      { actor_kind: "system", actor: "first start", resource_type: "organization", resource: "main" },
    ]);
    expect((await admin.get("/audit-log/admin")).json.total_count).toBe(2);
  });

  it("is the only one: the next start makes, prints and writes nothing", async () => {
    await startFirstTime(app.deps);
    const key = await keptKey();
    printed = "";
    await startFirstTime(app.deps);
    expect(printed).toBe("");
    expect(await keptKey()).toBe(key);
    await rm(file);
    await startFirstTime(app.deps);
    expect(await readdir(folder)).toEqual([]);
    expect(await usersThere()).toEqual(["admin"]);
  });

  it("tells only where the key is when nobody sits at a terminal", async () => {
    await startFirstTime(app.deps, false);
    expect(printed).toContain("This is the first start");
    expect(printed).toContain(file);
    expect(printed).not.toContain(await keptKey());
  });

  it("leaves a server alone that has users", async () => {
    await app.user();
    await startFirstTime(app.deps);
    expect(printed).toBe("");
    expect(await readdir(folder)).toEqual([]);
  });

  it("is left by a server that works on jobs alone to one that answers requests", async () => {
    const roles = { api: false, jobs: true };
    await startFirstTime({ ...app.deps, config: { ...app.deps.config, roles } });
    expect([await readdir(folder), await usersThere(), printed]).toEqual([[], [], ""]);
    await startFirstTime(app.deps);
    expect(await usersThere()).toEqual(["admin"]);
  });

  it("happens once when several processes start together; the kept key is the one that works", async () => {
    await Promise.all(Array.from({ length: 5 }, () => startFirstTime(app.deps, true)));
    expect(await usersThere()).toEqual(["admin"]);
    const key = await keptKey();
    expect(printed.split(key)).toHaveLength(2);
    expect((await app.as(key).get("/organizations")).status).toBe(200);
  });

  it("begins anew when it was killed after the key was kept and before anything was committed", async () => {
    const killed = bootstrap(app.deps, async (key) => {
      await writeFile(file, key);
      throw new Error("killed");
    });
    await expect(killed).rejects.toThrow("killed");
    expect(await usersThere()).toEqual([]);
    await startFirstTime(app.deps);
    expect((await app.as(await keptKey()).get("/organizations")).status).toBe(200);
  });

  it("has the key kept before it commits: killed right after, the key is known", async () => {
    const seen: string[][] = [];
    await bootstrap(app.deps, async (key) => {
      await writeFile(file, key);
      seen.push(await usersThere());
    });
    expect(seen).toEqual([[]]);
    expect((await app.as(await keptKey()).get("/organizations")).status).toBe(200);
  });

  it("does not happen when the key cannot be kept, and says why", async () => {
    await writeFile(join(folder, "occupied"), "");
    const config = { ...app.deps.config, dataDir: join(folder, "occupied") };
    const failed = startFirstTime({ ...app.deps, config });
    await expect(failed).rejects.toThrow(/administrator's key cannot be kept in .*occupied/);
    expect(await usersThere()).toEqual([]);
  });
});
