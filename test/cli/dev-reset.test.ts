import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";

import { createUserCommand } from "../../src/cli/admin-identity.ts";
import { readSeed, reset } from "../../src/cli/dev.ts";
import { print } from "../../src/cli/output.ts";
import { enqueue } from "../../src/db/jobs.ts";
import { transaction } from "../../src/db/transaction.ts";
import { Seed } from "../../src/modules/identity/bootstrap/seed-service.ts";
import { startTestApp, type TestApp } from "../support/app.ts";

let folder: string;
let app: TestApp;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "waybill-seed-"));
  app = await startTestApp({ WAYBILL_DEV: "1", WAYBILL_DATA_DIR: folder });
});
afterAll(async () => {
  await app.close();
  await rm(folder, { recursive: true });
});
beforeEach(() => void vi.spyOn(print, "line").mockImplementation(() => {}));
afterEach(() => vi.restoreAllMocks());

const annKey = "ann-has-a-key-of-hers-1";
const bobKey = "bob-has-a-key-of-his-22";
const seed = Seed.parse({
  users: [
    {
      name: "ann",
      email: "ann@example.com",
      display_name: "Ann",
      api_keys: [annKey],
      shared_organizations: ["ann-shared", "both"],
    },
    { name: "bob", api_keys: [bobKey], shared_organizations: ["both"] },
  ],
});

async function rowsOf(table: string): Promise<number> {
  const { rows } = await app.deps.db.pool.query(`select count(*) as n from ${table}`);
  return rows[0].n;
}

describe("waybill dev reset", () => {
  it("leaves the seed and nothing else, and the server goes on working", async () => {
    const before = await app.org();
    await before.admin.post(`/service-accounts/${before.name}`, { name: "bot" });
    await transaction(app.deps.db, (tx) => enqueue(tx, "none", {}));
    const started = performance.now();
    await reset(app.deps, seed);
    expect(performance.now() - started).toBeLessThan(20_000);

    expect((await before.admin.get(`/organizations/${before.name}`)).status).toBe(401);
    const ann = app.as(annKey);
    const organizations = (await ann.get("/organizations")).json;
    expect(
      organizations.map((org: { name: string; kind: string; role: string }) => [
        org.name,
        org.kind,
        org.role,
      ]),
    ).toEqual([
      ["ann", "personal", "admin"],
      ["ann-shared", "shared", "admin"],
      ["both", "shared", "admin"],
    ]);
    expect((await app.as(bobKey).get("/members/both")).json).toMatchObject([
      { user: "ann", display_name: "Ann", role: "admin" },
      { user: "bob", role: "admin" },
    ]);
    expect((await ann.post("/service-accounts/both", { name: "bot" })).status).toBe(201);
    const log = (await ann.get("/audit-log/ann?sort_direction=asc")).json.entries;
    expect(log).toMatchObject([
      { seq: 1, actor: "waybill admin", actor_kind: "system", action: "dev reset", resource: "ann" },
      { seq: 2, resource_type: "api_key" },
    ]);
    expect(await rowsOf("users")).toBe(2);
    expect(await rowsOf("service_accounts")).toBe(1);
    expect(await rowsOf("graphile_worker._private_jobs")).toBe(0);
    expect(await rowsOf("migrations")).toBeGreaterThan(0);
  });

  it("empties every table there is, those made later too, and guards the records again", async () => {
    await app.deps.db.pool.query("create table if not exists made_later (id uuid references users (id))");
    await app.deps.db.pool.query("insert into made_later select id from users");
    await reset(app.deps, Seed.parse({ users: [] }));
    const { rows } = await app.deps.db.pool.query<{ name: string }>(
      "select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'",
    );
    for (const { name } of rows)
      if (name !== "migrations") expect([name, await rowsOf(name)]).toEqual([name, 0]);
    await app.deps.db.pool.query("drop table made_later");
    for (const table of ["audit_log", "membership_events"])
      await expect(app.deps.db.pool.query(`truncate ${table}`)).rejects.toThrow(/insert-only/);
  });

  it("can be repeated while requests go on, which see the old state or the new one", async () => {
    await reset(app.deps, seed);
    const ann = app.as(annKey);
    const requests = Array.from({ length: 20 }, async (_none, index) => {
      const { status, text } = await ann.post("/service-accounts/both", { name: `bot-${index}` });
      expect([201, 400, 401, 409], text).toContain(status);
    });
    await Promise.all([...requests, reset(app.deps, seed), reset(app.deps, seed)]);
    expect((await ann.get("/organizations")).status).toBe(200);
  });

  it("changes nothing when the seed cannot be planted", async () => {
    await reset(app.deps, seed);
    const twice = Seed.parse({ users: [{ name: "carl" }, { name: "carl" }] });
    await expect(reset(app.deps, twice)).rejects.toThrow("The name 'carl' is already taken");
    const sameKey = Seed.parse({
      users: [
        { name: "carl", api_keys: [annKey] },
        { name: "dora", api_keys: [annKey] },
      ],
    });
    await expect(reset(app.deps, sameKey)).rejects.toThrow("A key with this value already exists");
    expect((await app.as(annKey).get("/organizations")).status).toBe(200);
  });

  it("recorded answer 19: takes several users with one mail address", async () => {
    const email = "team@example.com";
    const team = Seed.parse({
      users: [
        { name: "carl", email },
        { name: "dora", email },
        { name: "emil", email: email.toUpperCase() },
      ],
    });
    await reset(app.deps, team);
    const { rows } = await app.deps.db.pool.query(
      "select name from users where lower(email) = $1 order by 1",
      [email],
    );
    expect(rows.map(({ name }) => name)).toEqual(["carl", "dora", "emil"]);
    await expect(createUserCommand(app.deps, "frida", { email })).rejects.toThrow(
      `The mail address '${email}' is already taken`,
    );
    await reset(app.deps, seed);
  });

  it("refuses without WAYBILL_DEV=1", async () => {
    const deps = { ...app.deps, config: { ...app.deps.config, dev: false } };
    await expect(reset(deps, seed)).rejects.toThrow("works only when WAYBILL_DEV=1 is set");
  });

  it("logs no key", () => {
    expect(app.logged()).not.toContain(annKey);
  });
});

describe("a seed file", () => {
  const write = async (text: string): Promise<string> => {
    const file = join(folder, "seed.json");
    await writeFile(file, text);
    return file;
  };

  it("is read with its defaults", async () => {
    const file = await write('{"users":[{"name":"ann"}]}');
    expect(await readSeed(file)).toEqual({
      users: [{ name: "ann", api_keys: [], shared_organizations: [] }],
    });
  });

  it.each([
    ["{", "is not valid JSON"],
    ["", "is not valid JSON"],
    ['"text"', "body: Input should be a valid dictionary or object to extract fields from"],
    ["{}", "users: Field required"],
    ['{"users":[{"nam":"ann"}]}', "users[0].name: Field required"],
    ['{"users":[{"name":"ann","nick":"a"}]}', "users[0].nick: Extra inputs are not permitted"],
    ['{"users":[{"name":"-"}]}', "users[0].name: String should match pattern"],
    ['{"users":[{"name":"ann","email":"x"}]}', "users[0].email: value is not a valid email address"],
    ['{"users":[{"name":"ann","api_keys":["hush hush"]}]}', "users[0].api_keys[0]:"],
  ])("%s is refused with the reason", async (text, reason) => {
    const file = await write(text);
    const error = await readSeed(file).catch((problem: Error) => problem.message);
    expect(error).toContain(file);
    expect(error).toContain(reason);
    expect(error).not.toContain("hush");
  });

  it("that is missing is named", async () => {
    await expect(readSeed("/no/such/file")).rejects.toThrow("/no/such/file cannot be read");
  });
});
