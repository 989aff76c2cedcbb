import { randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";

import { boolean, text as textColumn } from "../../src/db/row.ts";
import { checkSecretKey, findSecretKey } from "../../src/db/secret-key.ts";
import { query, sql } from "../../src/db/sql.ts";
import { instanceLogId } from "../../src/domain/instance-log.ts";
import { sealedColumns } from "../../src/domain/lost-secrets.ts";
import { createSecretBox } from "../../src/lib/secret-box.ts";
import { ActionFixtures, flowAction, putEnv, webhook } from "../support/actions.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { runOn, urlOf } from "../support/databases.ts";
import { runPendingJobs } from "../support/jobs.ts";
import { deliveriesOf, happen, inProd } from "../support/notifications.ts";
import { analysis, deliver, type Hook, switchOn } from "../support/quality-server.ts";
import { makeBackup, restoredCode, type RestoreTarget, restoreTarget } from "../support/restoring.ts";
import { spawnWaybill } from "../support/server-process.ts";

let app: TestApp;
let acme: TestOrg;
let quiet: TestOrg;
let hook: Hook;
let folder: string;
let file: string;
const email = { type: "EMAIL", emails: ["ops@example.org"] };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "waybill-forgotten-"));
  app = await startTestApp({}, { maintained: true });
  await checkSecretKey(app.deps.db, app.deps.secrets.fingerprint);
  const fixtures = new ActionFixtures(app);
  ({ org: acme } = await fixtures.org());
  ({ org: quiet } = await fixtures.org());
  const triggers = ["ON_STARTED_ARTIFACT"];
  await putEnv(acme, { name: "chat", triggers, targets: [email, { ...webhook, type: "SLACK" }, webhook] });
  await putEnv(acme, { name: "mail", targets: [email] });
  await putEnv(quiet, { name: "mail", targets: [email] });
  await acme.member.put(`/actions/${acme.name}/flows`, flowAction());
  hook = { org: acme, ...(await switchOn(acme)) };
  const { id } = await app.user();
  await app.deps.db.run(sql`
    insert into sessions (id, token_hash, user_id, user_agent, address, created_at, last_used_at, issuer, subject, id_token)
    values (${randomUUID()}, ${randomBytes(32)}, ${id}, 'browser', '127.0.0.1', now(), now(), 'https://id.example', 'ann',
      ${app.deps.secrets.seal("token")})`);
  // On Citus no backup is made by this program.
  if (!inject("cluster")) file = await makeBackup(app, join(folder, "backup.tar"));
});
afterAll(async () => {
  await app.close();
  await rm(folder, { recursive: true });
});

/** Runs `waybill restore` into a database, with a data directory of its own. */
async function restore(target: RestoreTarget, args: string[], key?: string, from = file) {
  const dataDir = join(folder, "data");
  const environment = {
    DATABASE_URL: target.url,
    WAYBILL_DATA_DIR: dataDir,
    WAYBILL_EVIDENCE_DIR: target.evidenceDir,
    ...(key !== undefined && { WAYBILL_SECRET_KEY: key }),
  };
  const child = spawnWaybill(["restore", from, ...args], environment);
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout!),
    text(child.stderr!),
    once(child, "close"),
  ]);
  return { code: code as number | null, stdout, stderr };
}

/** Restores into a new database. */
async function withTarget(work: (target: RestoreTarget) => Promise<void>): Promise<void> {
  const target = await restoreTarget(folder);
  try {
    await work(target);
  } finally {
    await target.remove();
  }
}

const isEmpty = (target: RestoreTarget): Promise<boolean> =>
  target.opened(async (db) => {
    const { empty } = await db.one(query({ empty: boolean })`
      select not exists (select from pg_tables where schemaname in ('public', 'graphile_worker', 'waybill_restore'))
        as empty`);
    return empty;
  });

const lost = (): string[] => [
  `- ${acme.name}: action 1 'chat': the addresses of 2 webhooks`,
  `- ${acme.name}: action 3 'flows': the address of a webhook`,
  `- ${acme.name}: the secret that webhooks are signed with, which becomes another one`,
  `- ${acme.name}: the secret of the code-quality webhook`,
  "- the ID token of 1 session, so that signing out asks the provider without a hint",
];
const otherKey = "another key of at least thirty-two characters";

describe.skipIf(inject("cluster"))("a restore without the secret key", { timeout: 120_000 }, () => {
  it.each([
    ["none", undefined, "there is none here"],
    ["another one", otherKey, "another one is here"],
  ])("says what is lost, and changes nothing, with %s", async (_name, key, here) => {
    await withTarget(async (target) => {
      const refused = await restore(target, [], key);
      expect(refused.code).toBe(1);
      expect(refused.stderr).toContain(here);
      expect(refused.stderr.split("\n").filter((line) => line.startsWith("- "))).toEqual(lost());
      expect(refused.stderr).toContain("--forget-secrets");
      expect(refused.stderr).not.toContain(quiet.name);
      expect(await isEmpty(target)).toBe(true);
      expect([existsSync(join(folder, "data")), existsSync(target.evidenceDir)]).toEqual([false, false]);
    });
  });

  it("is told of before by a rehearsal", async () => {
    await withTarget(async (target) => {
      const { code, stdout } = await restore(target, ["--dry-run", "--json"]);
      expect(code).toBe(0);
      const { sealed } = JSON.parse(stdout) as { sealed: { text: string }[] };
      expect(sealed).toHaveLength(lost().length);
      const told = await restore(target, ["--dry-run"]);
      expect(told.stdout.split("\n").filter((line) => line.startsWith("- "))).toEqual(lost());
    });
  });

  it("needs no flag with the key, which keeps all", async () => {
    await withTarget(async (target) => {
      const done = await restore(target, ["--forget-secrets", "--json"], app.deps.config.secretKey);
      const code = restoredCode();
      expect([done.code, done.code === code ? "" : done.stderr]).toEqual([code, ""]);
      expect(JSON.parse(done.stdout)).toMatchObject({ forgotten: [] });
      await target.opened(async (db) => {
        const { rows } = await db.pool.query<{ count: number }>(
          "select (select count(*) from actions where target_secrets is null)::int as count",
        );
        expect(rows).toEqual([{ count: 0 }]);
        expect(await findSecretKey(db)).toBe(app.deps.secrets.fingerprint);
      });
    });
  });

  it("goes on with --forget-secrets, and leaves it to the first server which key there is", async () => {
    await withTarget(async (target) => {
      const done = await restore(target, ["--forget-secrets"]);
      expect([done.code, done.code === 3 ? "" : done.stderr]).toEqual([3, ""]);
      expect(done.stderr.split("\n").filter((line) => line.startsWith("- "))).toEqual(lost());
      await target.opened(async (db) => {
        expect(await findSecretKey(db)).toBeUndefined();
        for (const column of sealedColumns) {
          const [table, name] = column.split(".") as [string, string];
          const { rows } = await db.pool.query(`select from ${table} where ${name} is not null`);
          expect(rows, column).toEqual([]);
        }
      });
    });
  });

  it("leaves an installation that works with another key, and says what it needs", async () => {
    await withTarget(async (target) => {
      const done = await restore(target, ["--forget-secrets", "--json"], otherKey);
      expect([done.code, done.code === 3 ? "" : done.stderr]).toEqual([3, ""]);
      const told = JSON.parse(done.stdout) as { forgotten: { org: string; resource: string }[] };
      expect(told.forgotten.map(({ org, resource }) => [org, resource])).toEqual([
        [acme.name, "1"],
        [acme.name, "3"],
        [acme.name, "notifications"],
        [acme.name, "quality"],
        [null, "sessions"],
      ]);
      const database = new URL(target.url).pathname.slice(1);
      const copy = await startTestApp(
        { WAYBILL_SECRET_KEY: otherKey, WAYBILL_ALLOW_PRIVATE_TARGETS: "1" },
        { beside: { ...app, database } },
      );
      try {
        await expectToWork(copy);
      } finally {
        await copy.close();
      }
    });
  });
});

it.skipIf(inject("cluster"))(
  "a backup that is older than servers are ever away is restored, with its key or without, and says that servers will doubt the time",
  { timeout: 120_000 },
  async () => {
    // Whatever servers note of the time until the backup is made.
    await app.deps.db.pool.query(`
      create function long_ago() returns trigger language plpgsql as $$
      begin new.recorded_at := now() - interval '100 days'; return new; end $$;
      create trigger long_ago before insert or update on time_marks for each row execute function long_ago();
      insert into time_marks (recorded_at) values (now()) on conflict (one) do update set recorded_at = now()`);
    const old = await makeBackup(app, join(folder, "old.tar"));
    for (const key of [undefined, app.deps.config.secretKey])
      await withTarget(async (target) => {
        const done = await restore(target, ["--forget-secrets"], key, old);
        expect([done.code, done.code === 3 ? "" : done.stderr]).toEqual([3, ""]);
        expect(done.stderr).toMatch(/recorded in it is 100 days ago: .*`waybill admin accept-time`/);
        await target.opened(async (db) => {
          const { rows } = await db.pool.query(
            "select count(*)::int as late from backup_runs where kind = 'restore' and now() - started_at > interval '1 hour'",
          );
          expect(rows).toEqual([{ late: 0 }]);
        });
      });
  },
);

/** An installation that has another key than before. */
async function expectToWork(copy: TestApp): Promise<void> {
  const { db, secrets } = copy.deps;
  await checkSecretKey(db, secrets.fingerprint);
  expect(secrets.fingerprint).toBe(createSecretBox(otherKey).fingerprint);
  const as = (org: TestOrg): TestOrg => ({
    ...org,
    admin: copy.as(org.admin.key!),
    member: copy.as(org.member.key!),
  });
  const org = as(acme);

  // What lost its secret says so.
  const { json: actions } = await org.member.get(`/actions/${org.name}`);
  expect(
    actions.map((each: Record<string, unknown>) => [
      each["name"],
      each["addresses_forgotten"],
      each["is_failing"],
    ]),
  ).toEqual([
    ["flows", true, true],
    ["mail", false, false],
    ["chat", true, true],
  ]);
  const integrations = await org.member.get(`/integrations/${org.name}`);
  expect(integrations.json).toMatchObject([{ state: "on", secret_forgotten: true }]);
  expect((await deliver(copy.anonymous, hook, analysis())).status).toBe(401);
  expect((await deliver(copy.anonymous, { url: hook.url }, analysis())).status).toBe(401);
  expect((await deliver(org.member, { url: hook.url }, analysis())).status).toBe(200);

  // Mail goes on, as far as there is a server for it; addresses that are gone are told of.
  const facts = {
    snapshot: { index: 1, compliant: true },
    artifact: { name: "web", fingerprint: "a".repeat(64) },
  };
  await happen(copy, org, await inProd(copy, org, "ON_STARTED_ARTIFACT", facts));
  await runPendingJobs(copy);
  const errors = (await deliveriesOf(org)).map(({ error }: Record<string, unknown>) => error);
  const forgotten =
    "The target's address was forgotten when the installation was restored without its secret key";
  expect(errors).toHaveLength(3);
  expect(errors.filter((error) => error === forgotten)).toHaveLength(2);
  expect(errors).toContain("No mail server is configured");

  // All of it can be mended.
  const path = `/organizations/${org.name}/environments_notifications/1`;
  const body = { name: "chat", environments: ["prod"], triggers: ["ON_STARTED_ARTIFACT"] };
  const empty = await org.member.put(path, { ...body, targets: [{ ...webhook, webhook: "" }] });
  expect(empty.status).toBe(400);
  expect((await org.member.put(path, { ...body, targets: [webhook] })).status).toBe(200);
  expect((await org.member.get(path)).json).toMatchObject({ addresses_forgotten: false, is_failing: false });
  const settings = await org.member.put(`/integrations/${org.name}/quality`, {});
  expect(settings.json).toMatchObject({ secret_forgotten: true });
  const rotated = await org.member.post(`/integrations/${org.name}/quality/rotate-secret`);
  expect(rotated.json).toMatchObject({ secret_forgotten: false });
  const again = { url: hook.url, secret: rotated.json.secret as string };
  expect((await deliver(copy.anonymous, again, analysis())).status).toBe(200);

  // It stands in the logs of those it is about.
  const of = async (id: string): Promise<string[]> => {
    const entries = await db.all(query({ entry: textColumn })`
      select resource_type || ' ' || resource as entry from audit_log
      where org_id = ${id} and actor_name = 'waybill restore' order by seq`);
    return entries.map(({ entry }) => entry);
  };
  expect(await of(acme.id)).toEqual([
    "action 1",
    "action 3",
    "signing_secret notifications",
    "integration quality",
  ]);
  expect(await of(quiet.id)).toEqual([]);
  expect(await of(instanceLogId)).toEqual([
    "secret_key instance",
    expect.stringContaining("backup ") as string,
  ]);
}

/** Columns of bytes that hold nothing sealed, and what they hold. */
const openColumns: Readonly<Record<string, string>> = {
  "api_key_former_secrets.key_hash": "SHA-256",
  "api_keys.key_hash": "SHA-256",
  "audit_log.request_digest": "SHA-256",
  "invitations.token_hash": "SHA-256",
  "policies.text_digest": "SHA-256",
  "quality_deliveries.body": "what was sent",
  "quality_deliveries.body_sha256": "SHA-256",
  "sessions.token_hash": "SHA-256",
  "sign_in_links.token_hash": "SHA-256",
  "trail_events.artifact_fingerprint": "SHA-256",
  "used_logout_tokens.name_hash": "SHA-256",
};

describe("the schema", () => {
  it("has no column of bytes of which nobody has said whether it is sealed", async () => {
    const rows = await runOn<{ name: string }>(
      urlOf(inject("postgres"), app.database),
      `select table_name || '.' || column_name as name from information_schema.columns
       where table_schema = 'public' and data_type = 'bytea' and table_name in (
         select relname from pg_class where relkind in ('r', 'p') and not relispartition)
       order by 1`,
    );
    expect(rows.map(({ name }) => name)).toEqual([...sealedColumns, ...Object.keys(openColumns)].toSorted());
  });

  it("has nothing sealed anywhere else, and something in each column that is said to be", async () => {
    const open = (bytes: Buffer | null): boolean => {
      try {
        return bytes !== null && app.deps.secrets.open(bytes) !== "";
      } catch {
        return false;
      }
    };
    const { rows: columns } = await app.deps.db.pool.query<{ table: string; name: string; type: string }>(
      `select table_name as table, column_name as name, data_type as type from information_schema.columns
       where table_schema = 'public' and data_type in ('bytea', 'text', 'jsonb', 'json')`,
    );
    const sealed = new Set<string>();
    for (const { table, name, type } of columns) {
      const { rows } = await app.deps.db.pool.query<{ value: Buffer | string }>(
        `select ${type === "bytea" ? name : `${name}::text`} as value from ${table} where ${name} is not null limit 100`,
      );
      for (const { value } of rows) {
        // Sealed bytes in a text would be in one of these, whole or as a part.
        const found =
          typeof value === "string"
            ? (value.match(/[\w+/-]{38,}/g) ?? []).some((part) =>
                (["base64", "base64url", "hex"] as const).some((form) => open(Buffer.from(part, form))),
              )
            : open(value);
        if (found) sealed.add(`${table}.${name}`);
      }
    }
    expect([...sealed].toSorted()).toEqual([...sealedColumns]);
  });
});
