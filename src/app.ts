import { readFileSync } from "node:fs";
import { join } from "node:path";

import type { FastifyInstance } from "fastify";
import type { TaskList } from "graphile-worker";
import type { Logger } from "pino";

import { type Config, loadSecretKey, packageRoot } from "./config.ts";
import { endpoints } from "./contract/index.ts";
import { connect, type Database } from "./db/connect.ts";
import { startManagedPostgres } from "./db/managed/index.ts";
import { distributeNew } from "./db/citus/distribute.ts";
import { joinServers, type LiveServers } from "./db/live-servers.ts";
import { migrate } from "./db/migrate.ts";
import { checkPooler } from "./db/pooler.ts";
import { createReplica, ForeignReplicaError, type Replica } from "./db/replica.ts";
import { requireRestored } from "./db/restore-state.ts";
import { checkSecretKey } from "./db/secret-key.ts";
import { signInFailures } from "./domain/sessions.ts";
import { createEvidenceStore } from "./evidence/create.ts";
import type { AnyHandler } from "./http/mount.ts";
import type { Health } from "./http/health.ts";
import { createReadiness } from "./http/readiness.ts";
import { listenAddress } from "./http/listen-address.ts";
import { createServer } from "./http/server.ts";
import { showServers } from "./http/server-metrics.ts";
import { readWebFiles } from "./http/web.ts";
import { type Crew, startBackground } from "./jobs/background.ts";
import { showPartitions, showStoppedJobs } from "./jobs/metrics.ts";
import { startOutOfQuarantine } from "./jobs/quarantine.ts";
import { inRightTime, runInRightTime } from "./jobs/right-time.ts";
import { type JobRunner, migrateJobs } from "./jobs/runner.ts";
import { deliveryTasks, jobTasks, quietTasks, schedule } from "./jobs/tasks.ts";
import type { Clock } from "./lib/clock.ts";
import { FailureLimit } from "./lib/failure-limit.ts";
import { createIdSource, type IdSource } from "./lib/ids.ts";
import { createLinks } from "./lib/links.ts";
import type { Logger as ProgramLog } from "./lib/log.ts";
import { createSandbox } from "./lib/sandbox/sandbox.ts";
import { createSecretBox } from "./lib/secret-box.ts";
import { createTimeGuard, type TimeGuard, type TimeSources, trustedTime } from "./lib/time-guard.ts";
import { trackKeyUse } from "./modules/kernel/access/use-service.ts";
import type { Deps } from "./modules/kernel/deps.ts";
import { csvHandlers, gates, handlers } from "./modules/handlers.ts";
import { createMetrics } from "./modules/kernel/metrics.ts";
import { timeDeliveriesBy } from "./modules/notices/notifications/service.ts";
import { showWaitingDeliveries } from "./modules/notices/notifications/waiting-service.ts";
import { showTime } from "./modules/kernel/time/service.ts";
import { timeRecords } from "./modules/kernel/time/store.ts";

/** The program's version, from its package. */
export function programVersion(): string {
  const text = readFileSync(join(packageRoot, "package.json"), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}

/** Where the schema's migrations are. */
export const migrationsFolder = join(packageRoot, "migrations");

/** The running program. */
export interface App {
  deps: Deps;
  server: FastifyInstance;
  /** Begins to answer; resolves to the address listened on. */
  listen(): Promise<string>;
  /** Stops accepting, finishes requests and jobs, writes down what is in memory, stops PostgreSQL. */
  stop(): Promise<void>;
}

export interface AppOptions {
  log: Logger;
  /** A clock that is trusted, in place of the machine's. */
  clock?: Clock;
  /** Where the time comes from that is not trusted before it was compared, in place of the machine. */
  timeSources?: TimeSources;
  ids?: IdSource;
  /** Kinds of background jobs beside the program's own. */
  tasks?: TaskList;
  /** Called when the managed PostgreSQL is lost for good. */
  onFatal?: (error: Error) => void;
}

interface OpenDatabase {
  db: Database;
  close(): Promise<void>;
}

/** So many keep two processors busy; the other connections are left to what takes longer. */
const pipelinedConnections = 2;

async function openDatabase(config: Config, options: AppOptions): Promise<OpenDatabase> {
  const onConnectionError = (err: Error): void => options.log.warn({ err }, "database connection lost");
  const onVaryingStatement = (name: string): void =>
    options.log.warn({ statement: name }, "statement varies under its name and is not prepared");
  const pool = { max: config.databasePoolSize, pipelinedConnections, onConnectionError, onVaryingStatement };
  if (config.databaseUrl !== undefined) {
    const { databaseUrl, databasePooler: pooler, databaseDirectUrl: direct } = config;
    const db = connect({ connection: databaseUrl, pooler, direct, ...pool });
    await checkPooler(db, pooler).catch(async (error: unknown) => {
      await db.close();
      throw error;
    });
    return { db, close: () => db.close() };
  }
  const managed = await startManagedPostgres({
    dataDir: config.dataDir,
    log: options.log,
    ...(options.onFatal === undefined ? {} : { onFatal: options.onFatal }),
  });
  const db = connect({ connection: managed.connection, ...pool });
  return {
    db,
    close: async () => {
      await db.close();
      await managed.stop();
    },
  };
}

function createTime(db: Database, { clock, timeSources: sources, log }: AppOptions): TimeGuard {
  if (clock !== undefined) return trustedTime(clock);
  return createTimeGuard({
    records: timeRecords(db),
    log,
    ...(sources === undefined ? {} : { sources }),
  });
}

/** Everything modules need, from the configuration and an open database. */
export function createDeps(config: Config, db: Database, options: AppOptions): Deps {
  const time = createTime(db, options);
  return {
    config,
    db,
    replica: undefined,
    clock: time,
    time,
    ids: options.ids ?? createIdSource(() => time.idMilliseconds()),
    log: options.log,
    links: createLinks(config.publicUrl),
    secrets: createSecretBox(loadSecretKey(config)),
    evidence: createEvidenceStore(config.evidence),
    sandbox: createSandbox(),
    metrics: createMetrics(),
    signInFailures: new FailureLimit(signInFailures),
  };
}

/** Brings an empty or older database up to date. */
export async function prepareDatabase(db: Database, log: ProgramLog): Promise<void> {
  const applied = await migrate(db.direct, migrationsFolder, {
    afterwards: async (client) => {
      const { tables } = await distributeNew(client);
      if (tables.length > 0) log.info({ tables }, "tables distributed");
    },
  });
  if (applied.length > 0) log.info({ migrations: applied }, "database migrated");
  await migrateJobs(db.direct, log);
}

/** Opens the replica that the configuration names, if any. It may be away. */
function openReplica(config: Config, db: Database, { log }: AppOptions): Replica | undefined {
  const { databaseReadUrl: connection, databasePoolSize: max } = config;
  if (connection === undefined) return undefined;
  const onConnectionError = (err: Error): void => log.warn({ err }, "connection to the replica lost");
  return createReplica({
    primary: db,
    replica: connect({ connection, max, pipelinedConnections, onConnectionError }),
    onAway: (err) => log.warn({ err }, "the replica is away, all reads go to the primary"),
  });
}

/** Builds the program: opens the database, migrates it, wires modules and server. It does not listen yet. */
export async function createApp(config: Config, options: AppOptions): Promise<App> {
  const { db, close } = await openDatabase(config, options);
  const replica = openReplica(config, db, options);
  const closeAll = async (): Promise<void> => {
    await replica?.close();
    await close();
  };
  try {
    await requireRestored(db);
    await prepareDatabase(db, options.log);
    await replica?.requireKin().catch((err: unknown) => {
      if (err instanceof ForeignReplicaError) throw err;
      options.log.warn({ err }, "the replica is away, all reads go to the primary");
    });
    const deps = { ...createDeps(config, db, options), replica };
    await checkSecretKey(db, deps.secrets.fingerprint);
    return await assembleApp(deps, closeAll, options.log, options.tasks);
  } catch (error) {
    await closeAll();
    throw error;
  }
}

const concurrentDeliveries = 8;

/** How long requests under way may take when the server stops; who sends that slowly is cut off. */
const stopWithinMs = 20_000;

async function closeServer(server: FastifyInstance): Promise<void> {
  const cutOff = setTimeout(() => server.server.closeAllConnections(), stopWithinMs);
  try {
    await server.close();
  } finally {
    clearTimeout(cutOff);
  }
}

/** Joins the servers that answer requests on this database. */
function joinOthers({ db, log }: Deps): LiveServers {
  return joinServers({
    db,
    onError: (err) => log.warn({ err }, "the servers on the database cannot be counted"),
  });
}

/** Begins the background work of a server. @param held whether others are to be told nothing. */
function startJobs(deps: Deps, moreTasks: TaskList, held: boolean): JobRunner {
  const all: Crew[] = [
    { tasks: inRightTime(deps.time, { ...jobTasks(deps), ...moreTasks }), schedule },
    // Targets that do not answer keep nothing but other targets waiting.
    { tasks: inRightTime(deps.time, deliveryTasks(deps)), concurrency: concurrentDeliveries },
  ];
  return startBackground({
    db: deps.db,
    log: deps.log,
    // A data directory has one server.
    alone: deps.config.databaseUrl === undefined,
    crews: held ? [{ tasks: inRightTime(deps.time, quietTasks(deps)) }] : all,
    keepUp: (start) => runInRightTime(deps, start),
  });
}

type State = "starting" | "ready" | "stopping";

/** Makes what says whether the server can do its work. */
function createHealth(deps: Deps, state: () => State): Health {
  const writeProblem = createReadiness(deps);
  return {
    problem: async () => {
      if (state() !== "ready") return `The server is ${state()}`;
      if (deps.time.refused !== undefined) return "The time is in doubt";
      const answers = await deps.db.pool.query("select 1").catch(() => undefined);
      return answers === undefined ? "The database is not available" : writeProblem();
    },
  };
}

/** Wires modules, jobs and server around an open, migrated database. */
export async function assembleApp(
  deps: Deps,
  closeDatabase: () => Promise<void>,
  log: Logger,
  moreTasks: TaskList = {},
): Promise<App> {
  const { roles, web } = deps.config;
  const keyUse = trackKeyUse(deps);
  showWaitingDeliveries(deps);
  showTime(deps);
  timeDeliveriesBy(() => deps.time.idMilliseconds());
  await deps.time.start();
  showStoppedJobs(deps);
  showPartitions(deps);
  let jobs: JobRunner | undefined;
  let servers: LiveServers | undefined;
  showServers(deps, () => servers?.count() ?? 1);
  let state: State = "starting";
  const server = await createServer(deps, {
    log,
    mounted: {
      endpoints,
      handlers: handlers as unknown as Record<string, AnyHandler>,
      csv: csvHandlers,
      gates,
      keyUse,
    },
    health: createHealth(deps, () => state),
    version: programVersion(),
    web: web === undefined || !roles.api ? undefined : readWebFiles(web),
    servers: () => servers?.count() ?? 1,
  });
  return {
    deps,
    server,
    listen: async () => {
      state = "ready";
      const { port, host } = deps.config;
      const address = await server.listen({ port, host: await listenAddress(host) });
      if (roles.api && deps.config.databaseUrl !== undefined) servers = joinOthers(deps);
      // After that, so that no job can keep a server from starting.
      if (roles.jobs) jobs = startOutOfQuarantine(deps, (held) => startJobs(deps, moreTasks, held));
      return address;
    },
    stop: async () => {
      state = "stopping";
      deps.time.stop();
      try {
        await closeServer(server);
        await servers?.stop();
        await jobs?.stop();
        await deps.sandbox.close();
        await keyUse.stop();
      } finally {
        // Whatever went wrong before: PostgreSQL must not be left running.
        await closeDatabase();
      }
    },
  };
}
