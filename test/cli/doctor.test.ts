import { once } from "node:events";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer as createHttpServer, request } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import { generateIdentity, identityToRecipient } from "age-encryption";
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from "vitest";

import { connect, type Database } from "../../src/db/connect.ts";
import type { DoctorFinding } from "../../src/cli/doctor-checks.ts";
import { createDatabase, dropDatabase, urlOf, withDatabase } from "../support/databases.ts";
import { freePort, type Run, spawnWaybill, startServer, withDataDir } from "../support/server-process.ts";
import { uniqueName } from "../support/unique-name.ts";

const fixture = (name: string): string => join(import.meta.dirname, "..", "support", "fixtures", name);

interface Examined {
  code: number;
  stderr: string;
  status: string;
  findings: Map<string, DoctorFinding>;
  not_checked: string[];
}

async function examine(environment: Record<string, string>, run: Run = {}): Promise<Examined> {
  const child = spawnWaybill(["doctor", "--json"], environment, run);
  const ended = new Promise<number>((done) => child.once("close", done));
  const [stdout, stderr] = await Promise.all([text(child.stdout!), text(child.stderr!)]);
  const code = await ended;
  const { findings, ...report } = JSON.parse(stdout || "null") ?? { findings: [] };
  return {
    ...report,
    code,
    stderr,
    findings: new Map(findings.map((finding: DoctorFinding) => [finding.name, finding])),
  };
}

/** A proxy that appends its caller's address to what it passes on, as proxies do. */
function passOnTo(port: string) {
  return createHttpServer((asked, answer) => {
    const callers = [asked.headers["x-forwarded-for"], asked.socket.remoteAddress].filter(Boolean).join(", ");
    const headers = { ...asked.headers, "x-forwarded-for": callers };
    const passed = request({ host: "127.0.0.1", port, path: asked.url, headers, agent: false }, (got) => {
      answer.writeHead(got.statusCode!, got.headers);
      got.pipe(answer);
    });
    passed.on("error", () => answer.destroy());
    asked.pipe(passed);
  });
}

/** Shows a fault as it was found, with what to do about it. */
function expectFound(examined: Examined, name: string, status: string, detail: RegExp, remedy: RegExp): void {
  const found = examined.findings.get(name);
  expect(found, name).toMatchObject({ name, status });
  expect(found?.detail).toMatch(detail);
  expect(found?.remedy).toMatch(remedy);
}

describe.skipIf(inject("cluster"))("waybill doctor", { timeout: 180_000 }, () => {
  const name = uniqueName("doctor").replaceAll("-", "_");
  const server = inject("postgres");
  let db: Database;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "waybill-doctor-"));
    await createDatabase(server, name, inject("template"));
    db = connect({ connection: withDatabase(server, name), max: 2 });
  });
  afterAll(async () => {
    await db.close();
    await dropDatabase(server, name);
    await rm(folder, { recursive: true });
  });

  const query = (statement: string): Promise<unknown> => db.pool.query(statement);

  /** Done once, however often the test below is tried. */
  let planting: Promise<void> | undefined;
  async function plantFaults(): Promise<void> {
    const dataDir = join(folder, "data");
    await mkdir(dataDir);
    await chmod(dataDir, 0o777);
    await writeFile(join(dataDir, "secret-key"), "k".repeat(43));
    await chmod(join(dataDir, "secret-key"), 0o644);
    await writeFile(join(dataDir, "initial-admin-key"), "of the first start", { mode: 0o600 });
    await query(
      "insert into instance_settings (name, value) values ('secret_key_fingerprint', '0123456789abcdef'), ('quarantine', 'a backup')",
    );
    await query(
      "create table unanalyzed with (autovacuum_enabled = false) as select 1 as n from generate_series(1, 100000)",
    );
    await expect(query("create unique index concurrently twice on unanalyzed (n)")).rejects.toThrow("unique");
    await query(`
      create table bloated (n integer) with (autovacuum_enabled = false);
      insert into bloated select generate_series(1, 60000);
      delete from bloated;
      analyze bloated`);
    // Counted within a second, by the process that deleted them.
    const dead = "select n_dead_tup::int as n from pg_stat_user_tables where relname = 'bloated'";
    await expect
      .poll(async () => (await db.pool.query<{ n: number }>(dead)).rows[0]?.n, { timeout: 30_000 })
      .toBeGreaterThan(50_000);
    await query(
      "insert into org_counters (org_id, audit_seq, build_number) values ('00000000-0000-0000-0000-00000000000a', 2, 3)",
    );
    await query("insert into migrations (name, checksum) values ('9999-later.sql', 'x')");
    await query(`
      insert into users (id, name, created_at) values ('00000000-0000-0000-0000-00000000000b', 'old', now());
      insert into api_keys (id, key_hash, user_id, description, created_at, created_by_name)
      values ('00000000-0000-0000-0000-00000000000c', 'x', '00000000-0000-0000-0000-00000000000b', 'Made at the first start',
        now() - interval '100 days', 'first start');
      insert into api_keys (id, key_hash, user_id, description, created_at, created_by_name, expires_at, last_used_at)
      values ('00000000-0000-0000-0000-00000000000e', 'y', '00000000-0000-0000-0000-00000000000b', 'deploys',
        now() - interval '80 days', 'old', now() + interval '13 days', now() - interval '1 day')`);
    const life = join(dataDir, "wal-archive", "0123456789abcdef", "20261123T100000Z-0123abcd", "wal");
    await mkdir(life, { recursive: true });
    await writeFile(join(life, `${"0".repeat(24)}.gz`), "of the log");
    await query(`
      insert into backup_runs (id, kind, scheduled, started_at, ended_at, ok)
      select gen_random_uuid(), kind, true, now() - age, now() - age, true
      from (values ('backup', interval '27 hours'), ('restore_drill', interval '9 days')) runs (kind, age)`);
    await query("create unlogged table unlogged (n integer)");
    await query(`alter database ${name} set synchronous_commit = off`);
    await query(`
      insert into sign_in_links (token_hash, user_id, created_at, public_url)
      values ('x', '00000000-0000-0000-0000-00000000000b', now(), 'https://waybill.example.org');
      insert into org_counters (org_id, audit_seq) values ('00000000-0000-0000-0000-00000000000d', 1);
      insert into audit_log (org_id, seq, occurred_at, actor_kind, actor_name, action, resource_type, resource, request_id)
      values ('00000000-0000-0000-0000-00000000000d', 1, now() - interval '11 minutes', 'system', 'a', 'a', 'flow', 'a', 'a')`);
    // What takes hours to come about, or needs another server, PostgreSQL is made to say.
    await query(`
      create view pg_database as select oid, datname, coalesce(datcollversion, '') || '0' as datcollversion, datconnlimit,
          ((txid_current() + 4294967296 - 1600000000) % 4294967296)::text::xid as datfrozenxid
        from pg_catalog.pg_database;
      create view pg_stat_activity as select 4711 as pid, current_database() as datname, 'client backend' as backend_type,
        'idle in transaction' as state, now() - interval '11 minutes' as xact_start;
      create view pg_prepared_xacts as select current_database() as database, now() - interval '11 minutes' as prepared;
      create view pg_replication_slots as select 'nobody' as slot_name, false as active, null::pg_lsn as restart_lsn;
      alter database ${name} set search_path = public, pg_catalog`);
  }

  it("finds faults in the database, the machine and the services, with a remedy for each", async () => {
    await (planting ??= plantFaults());
    const dataDir = join(folder, "data");
    const closed = await freePort();
    const holder = createServer((socket) => socket.end("I am another program\r\n")).listen(0, "127.0.0.1");
    await new Promise((done) => holder.once("listening", done));
    const { port } = holder.address() as { port: number };
    const [own, foreign] = await Promise.all([generateIdentity(), generateIdentity()]);
    const examined = await examine({
      DATABASE_URL: urlOf(server, name),
      DATABASE_READ_URL: `postgres://waybill@127.0.0.1:${closed}/waybill`,
      NODE_OPTIONS: "--max-old-space-size=160",
      WAYBILL_LOG_LEVEL: "debug",
      WAYBILL_AUDIT_TO: `file://${folder}/audit.jsonl`,
      WAYBILL_BACKUP_TO: join(dataDir, "secret-key", "backups"),
      WAYBILL_BACKUP_ENCRYPT_TO: await identityToRecipient(own),
      WAYBILL_BACKUP_IDENTITY: foreign,
      WAYBILL_DATA_DIR: dataDir,
      PORT: String(port),
      WAYBILL_DEV: "1",
      WAYBILL_PUBLIC_URL: "https://waybill.example.org",
      WAYBILL_TLS_CERT: fixture("test-only-expired.cert.pem"),
      WAYBILL_TLS_KEY: fixture("test-only-trusted.key.pem"),
      WAYBILL_TLS_CLIENT_CA: fixture("test-only-expired.cert.pem"),
      WAYBILL_SMTP_URL: `smtp://127.0.0.1:${closed}`,
      WAYBILL_MAIL_FROM: "waybill@example.org",
      WAYBILL_OIDC_ISSUER: `http://127.0.0.1:${closed}`,
      WAYBILL_OIDC_CLIENT_ID: "waybill",
      WAYBILL_EVIDENCE_S3_ENDPOINT: `http://127.0.0.1:${closed}`,
      WAYBILL_EVIDENCE_S3_BUCKET: "evidence",
      WAYBILL_EVIDENCE_S3_ACCESS_KEY: "access",
      WAYBILL_EVIDENCE_S3_SECRET_KEY: "secret",
    }).finally(() => holder.close());

    expect(examined.code, examined.stderr).toBe(1);
    expect(examined.status).toBe("failing");
    expectFound(examined, "data_directory", "failing", /0777/, /chmod go-w/);
    expectFound(examined, "secret_files", "failing", /secret-key \(0644\)/, /chmod 600/);
    expectFound(examined, "settings", "warning", /WAYBILL_DEV/, /Remove/);
    expectFound(examined, "port", "failing", /another program/, /PORT/);
    expectFound(examined, "certificate", "failing", /WAYBILL_TLS_CERT has expired/, /Renew/);
    expectFound(examined, "client_authority", "failing", /WAYBILL_TLS_CLIENT_CA has expired/, /Renew/);
    expectFound(examined, "trusted_proxies", "warning", /not trusted/, /WAYBILL_TRUSTED_PROXIES/);
    expectFound(examined, "mail", "failing", /ECONNREFUSED/, /WAYBILL_SMTP_URL/);
    expectFound(examined, "sign_in", "failing", /ECONNREFUSED/, /WAYBILL_OIDC_ISSUER/);
    expectFound(examined, "evidence_store", "failing", /cannot be kept|no answer/, /S3|hangs/);
    expectFound(examined, "migrations", "warning", /9999-later/, /Start the server/);
    expectFound(examined, "quarantine", "warning", /a backup/, /release-quarantine/);
    expectFound(examined, "indexes", "failing", /twice/, /reindex index concurrently twice/);
    expectFound(examined, "statistics", "warning", /unanalyzed/, /analyze/);
    expectFound(examined, "dead_rows", "warning", /bloated/, /vacuum/);
    expectFound(examined, "audit_log", "failing", /0000000a/, /compare/);
    expectFound(examined, "builds", "failing", /0000000a/, /compare/);
    expectFound(examined, "secret_key", "failing", /another key/, /WAYBILL_SECRET_KEY/);
    expectFound(examined, "first_key", "warning", /still works/, /revoke .*, and remove .*initial-admin-key/);
    expectFound(examined, "eternal_keys", "warning", /1 of 2/, /expiry/);
    expectFound(examined, "unused_keys", "warning", /1 of 2/, /Revoke/);
    expectFound(examined, "ending_keys", "warning", /1 of 2/, /Rotate/);
    expectFound(examined, "wal_left", "warning", /10 bytes of WAL wait/, /former settings/);
    expectFound(examined, "backup", "warning", /27 h/, /WAYBILL_BACKUP_TO/);
    expectFound(examined, "drill", "warning", /9 days/, /restore drill/);
    expectFound(examined, "log_level", "warning", /debug/, /info/);
    expectFound(examined, "memory", "warning", /for Node/, /max-old-space-size/);
    expectFound(examined, "backup_folder", "failing", /ENOTDIR/, /is a folder/);
    expectFound(examined, "recipients", "failing", /reads nothing/, /identity/);
    expectFound(
      examined,
      "durability",
      "failing",
      /synchronous_commit (?:is|are) off; .* unlogged/,
      /set logged/,
    );
    expectFound(examined, "autovacuum", "warning", /bloated, unanalyzed/, /reset/);
    expectFound(examined, "transaction_ids", "failing", /1600000\d+ transactions/, /vacuum freeze/);
    expectFound(examined, "transactions", "warning", /11 minutes while its client/, /4711/);
    expectFound(examined, "prepared", "warning", /1 were prepared/, /rollback prepared/);
    expectFound(examined, "slots", "warning", /nobody/, /pg_drop_replication_slot/);
    expectFound(examined, "collation", "failing", /other rules/, /reindex database/);
    expectFound(examined, "replica", "failing", /ECONNREFUSED/, /DATABASE_READ_URL/);
    expectFound(examined, "emergency_links", "warning", /1 link /, /ten minutes/);
    expectFound(examined, "audit_targets", "warning", /for 11 minutes/, /runbooks/);
    expect(examined.findings.size).toBeGreaterThanOrEqual(48);
    expect(examined.not_checked).toEqual(["engine", "public_url", "sign_in_secret", "wal_folder"]);
  });

  it("finds faults of buckets, certificates and secrets that do not fit, and of the machine", async () => {
    await (planting ??= plantFaults());
    const asked: string[] = [];
    await using provider = createHttpServer((question, answer) => {
      const issuer = `http://localhost:${(provider.address() as AddressInfo).port}`;
      asked.push(`${question.method} ${question.url}`);
      const isToken = question.url === "/token";
      answer
        .writeHead(isToken ? 401 : 200, { "content-type": "application/json" })
        .end(
          JSON.stringify(
            isToken
              ? { error: "invalid_client", error_description: "The secret ended a week ago" }
              : { issuer, authorization_endpoint: `${issuer}/auth`, token_endpoint: `${issuer}/token` },
          ),
        );
    }).listen(0, "localhost");
    await once(provider, "listening");
    // What does not outlast the machine.
    const dataDir = await mkdtemp("/dev/shm/waybill-doctor-");
    onTestFinished(() => rm(dataDir, { recursive: true }));
    const closed = await freePort();
    await query("select graphile_worker.add_job('backup', run_at => now() - interval '1 hour')");
    const examined = await examine(
      {
        DATABASE_URL: urlOf(server, name),
        WAYBILL_DATA_DIR: dataDir,
        HOST: "0.0.0.0",
        PORT: String(await freePort()),
        WAYBILL_INSECURE_HTTP: "1",
        WAYBILL_DATABASE_POOL: "200",
        WAYBILL_BACKUP_TO: "s3://backups/waybill",
        WAYBILL_BACKUP_S3_ENDPOINT: `http://127.0.0.1:${closed}`,
        WAYBILL_BACKUP_S3_ACCESS_KEY: "access",
        WAYBILL_BACKUP_S3_SECRET_KEY: "secret",
        WAYBILL_OIDC_ISSUER: `http://localhost:${(provider.address() as AddressInfo).port}`,
        WAYBILL_OIDC_CLIENT_ID: "waybill",
        WAYBILL_OIDC_CLIENT_SECRET: "that ended",
      },
      { openFiles: 1_000 },
    );
    expectFound(examined, "plain_http", "warning", /plain HTTP beyond/, /WAYBILL_TLS_CERT/);
    expectFound(examined, "descriptors", "warning", /1000 files/, /LimitNOFILE/);
    expectFound(examined, "file_system", "warning", /tmpfs/, /disk or a volume/);
    expectFound(examined, "backup_folder", "failing", /s3:.*ECONNREFUSED/, /WAYBILL_BACKUP_S3/);
    expectFound(examined, "sign_in_secret", "failing", /refuses the secret of waybill/, /CLIENT_SECRET/);
    expectFound(examined, "jobs", "warning", /1 due for ten minutes/, /admin jobs list/);
    expectFound(examined, "connections", "failing", /up to 202/, /WAYBILL_DATABASE_POOL/);
    expect(examined.findings.get("sign_in")).toMatchObject({ status: "ok" });
    expect(asked).toContain("POST /token");

    const misfit = await examine({
      DATABASE_URL: `postgres://waybill@127.0.0.1:${closed}/waybill`,
      WAYBILL_DATA_DIR: join(folder, "nothing"),
      WAYBILL_TLS_CERT: fixture("test-only-trusted.cert.pem"),
      WAYBILL_TLS_KEY: fixture("test-only-unknown.key.pem"),
    });
    expectFound(misfit, "certificate", "failing", /is not the key of/, /fit together/);
  });

  it("finds a database that another major version of PostgreSQL made, without starting it", async () => {
    const dataDir = join(folder, "former");
    await mkdir(join(dataDir, "postgres"), { recursive: true });
    await writeFile(join(dataDir, "postgres", "PG_VERSION"), "9\n");
    const examined = await examine({ WAYBILL_DATA_DIR: dataDir, PORT: String(await freePort()) });
    expect(examined.code).toBe(1);
    expectFound(examined, "engine", "failing", /cannot read .* PostgreSQL 9 made/, /upgrade --check/);
  });

  it("says in one finding that a database is away", async () => {
    const examined = await examine({
      DATABASE_URL: `postgres://waybill@127.0.0.1:${await freePort()}/waybill`,
      WAYBILL_DATA_DIR: join(folder, "nothing"),
      PORT: String(await freePort()),
    });
    expect(examined.code).toBe(1);
    expectFound(examined, "reachable", "failing", /ECONNREFUSED/, /DATABASE_URL/);
    expect(examined.findings.has("indexes")).toBe(false);
  });

  it("finds nothing failing in a new installation, with its server and without, and makes nothing where there is none", async () => {
    await withDataDir(async (dataDir) => {
      const PORT = String(await freePort());
      const proxyPort = await freePort();
      await using proxy = passOnTo(PORT).listen(proxyPort, "127.0.0.1");
      await once(proxy, "listening");
      const environment = {
        WAYBILL_DATA_DIR: dataDir,
        PORT,
        WAYBILL_LOG_LEVEL: "info",
        WAYBILL_PUBLIC_URL: `http://localhost:${proxyPort}`,
      };
      const before = await examine(environment);
      expect([0, 3], before.stderr).toContain(before.code);
      expect(before.not_checked).toContain("reachable");
      await expect(rm(dataDir, { recursive: true })).rejects.toThrow("ENOENT");

      const running = await startServer(dataDir, environment);
      const beside = await examine(environment);
      const others = (examined: Examined): string[] =>
        [...examined.findings.values()]
          .filter(({ status }) => status !== "ok")
          .map((finding) => finding.name);
      // What a new installation is told to do, and what is of the machine that the test runs on.
      const expected = ["first_key", "eternal_keys", "backup", "drill", "data_directory", "trusted_proxies"];
      const ofMachine = ["node", "memory", "file_system", "data_disk", "evidence_disk", "descriptors"];
      for (const name of others(beside)) expect([...expected, ...ofMachine]).toContain(name);
      expect(others(beside)).toEqual(
        expect.arrayContaining(["first_key", "eternal_keys", "backup", "drill"]),
      );
      expect(beside.findings.get("port")?.detail).toContain("the server answers");
      expect(beside.findings.get("public_url")).toMatchObject({ status: "ok" });
      // Seen by a request that went through it: the settings alone do not say that there is one.
      expectFound(
        beside,
        "trusted_proxies",
        "warning",
        /at 127\.0\.0\.1 that is not trusted/,
        /WAYBILL_TRUSTED/,
      );
      expect(await running.stop()).toBe(0);

      const stopped = await examine(environment);
      for (const name of others(stopped)) expect([...expected, ...ofMachine]).toContain(name);
      expect(stopped.findings.get("port")?.detail).toContain("no server runs");
      expect(stopped.not_checked).toContain("public_url");
      expect(stopped.findings.get("trusted_proxies")).toMatchObject({ status: "ok" });
    });
  });
});
