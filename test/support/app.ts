import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { FastifyInstance } from "fastify";
import { inject } from "vitest";

import { assembleApp, createDeps, startTracing } from "../../src/app.ts";
import { readConfig } from "../../src/config.ts";
import { connect } from "../../src/db/connect.ts";
import { transaction } from "../../src/db/transaction.ts";
import { present } from "../../src/lib/present.ts";
import { createIdSource } from "../../src/lib/ids.ts";
import { createLogger } from "../../src/lib/log.ts";
import { machineTime } from "../../src/lib/time-guard.ts";
import type { Deps } from "../../src/modules/kernel/deps.ts";
import { Client } from "./client.ts";
import { createDatabase, dropDatabase, withDatabase } from "./databases.ts";
import { TestClock } from "./clock.ts";
import {
  createOrganizationAtOnce,
  createOrganizationStepwise,
  createUserWithKey,
  type NewUser,
  type OrganizationOptions,
  type UserOptions,
} from "./new-organizations.ts";
import { requireOneOrganization } from "./tenant-scope.ts";
import { uniqueName } from "./unique-name.ts";

/** An organization with a user, and a client with that user's key, for each role. */
export interface TestOrg {
  id: string;
  name: string;
  admin: Client;
  member: Client;
  snapshotter: Client;
  reader: Client;
}

/** A user with a personal organization, and a client with their key. */
export interface TestUser extends NewUser {
  client: Client;
}

export interface TestApp {
  deps: Deps;
  /** Its database's name. */
  database: string;
  server: FastifyInstance;
  clock: TestClock;
  /** Without credentials. */
  anonymous: Client;
  /** Everything the program logged, as text. */
  logged(): string;
  user(options?: UserOptions): Promise<TestUser>;
  org(options?: OrganizationOptions): Promise<TestOrg>;
  /** A client with this key. */
  as(key: string): Client;
  close(): Promise<void>;
}

/**
 * The whole program in this process, on a database of its own cloned from the run's template. It does not listen:
 * requests are injected. Call `close` in `afterAll`. With `doubted` the clock that tests move is the machine's, of which the
 * program finds out for itself whether it is right; with `ahead` the machine's own, and by so many seconds. With `maintained` statements may be about all organizations at once. With
 * `idsByClock` ids have the time of the clock that tests move, without, that of the machine. With
 * `largestRow` it reads no row of more bytes. With
 * `beside` it is another server on the database of that one, with its clock: close it first.
 */
export async function startTestApp(
  environment: Record<string, string> = {},
  options: {
    doubted?: boolean;
    ahead?: number;
    maintained?: boolean;
    beside?: TestApp;
    idsByClock?: boolean;
    largestRow?: number;
  } = {},
): Promise<TestApp> {
  const postgres = inject("postgres");
  const { beside } = options;
  const database = beside?.database ?? uniqueName("waybill_test").replaceAll("-", "_");
  if (beside === undefined) await createDatabase(postgres, database, inject("template"));
  const evidenceDir = beside?.deps.config.evidence.dir ?? join(tmpdir(), uniqueName("waybill-evidence"));
  const config = readConfig({
    WAYBILL_LOG_LEVEL: "info",
    WAYBILL_SECRET_KEY: beside?.deps.config.secretKey ?? randomBytes(32).toString("hex"),
    WAYBILL_PUBLIC_URL: "http://waybill.test",
    WAYBILL_EVIDENCE_DIR: evidenceDir,
    // Whether somebody has built the pages must make no difference.
    WAYBILL_WEB: "0",
    ...environment,
  });
  const lines: string[] = [];
  const log = createLogger(config.logLevel, { write: (line) => void lines.push(line) });
  const onVaryingStatement = (name: string): never => {
    throw new Error(`The statement named '${name}' does not always have the same text`);
  };
  const connection = withDatabase(postgres, database);
  const checks = {
    onVaryingStatement,
    ...(options.maintained === true ? {} : { onStatement: requireOneOrganization }),
    checkRows: true,
  };
  const { largestRow } = options;
  const db = connect({ connection, max: 8, pipelinedConnections: 2, largestRow, ...checks });
  const clock = beside?.clock ?? new TestClock();
  const { ahead } = options;
  const wall = ahead === undefined ? () => clock.now() : () => machineTime.wall() + ahead;
  const tracing = await startTracing(config, log);
  const deps = createDeps(config, db, {
    log,
    tracing,
    ...(options.doubted === true || ahead !== undefined
      ? { timeSources: { ...machineTime, wall } }
      : { clock }),
    ...(options.idsByClock === true ? { ids: createIdSource(() => Math.floor(clock.now() * 1000)) } : {}),
  });
  const app = await assembleApp(deps, () => db.close(), { log, distributed: inject("cluster") });
  await app.server.ready();
  const withKey = (key: string | undefined): Client =>
    new Client(app.server, key, () => lines.findLast((line) => line.includes('"err"')) ?? "");

  async function user(options: UserOptions = {}): Promise<TestUser> {
    const created = await transaction(db, (tx) => createUserWithKey(deps, tx, options));
    return { ...created, client: withKey(created.key) };
  }

  const createOrganization = inject("cluster") ? createOrganizationStepwise : createOrganizationAtOnce;
  async function org(options: OrganizationOptions = {}): Promise<TestOrg> {
    const { id, name, keys } = await createOrganization(deps, options);
    return {
      id,
      name,
      admin: withKey(keys.admin),
      member: withKey(keys.member),
      snapshotter: withKey(keys.snapshotter),
      reader: withKey(keys.reader),
    };
  }

  return {
    deps,
    database,
    server: app.server,
    clock,
    anonymous: withKey(undefined),
    logged: () => lines.join(""),
    user,
    org,
    as: withKey,
    close: async () => {
      await app.stop();
      if (beside !== undefined) return;
      await rm(evidenceDir, { recursive: true, force: true });
      await dropDatabase(postgres, database);
    },
  };
}

/** Gives an organization whose clients speak to another server, which is beside the first. */
export function seenFrom(server: TestApp, org: TestOrg): TestOrg {
  const client = ({ key }: { key: string | undefined }) => server.as(present(key, "members have one"));
  const { admin, member, snapshotter, reader } = org;
  return {
    ...org,
    admin: client(admin),
    member: client(member),
    snapshotter: client(snapshotter),
    reader: client(reader),
  };
}
