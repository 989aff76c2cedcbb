import { setMaxListeners } from "node:events";

import type { FastifyInstance } from "fastify";
import type { TaskList } from "graphile-worker";
import type { Logger } from "pino";
import { type Config, ConfigError, loadSecretKey } from "./config.ts";
import { plainTextRefusal } from "./config-edge.ts";
import { endpoints } from "./contract/index.ts";
import { type Database } from "./db/connect.ts";
import { createLastingConnection, type LastingConnection } from "./db/lasting-connection.ts";
import { joinServers, type LiveServers } from "./db/live-servers.ts";
import { ForeignReplicaError } from "./db/replica.ts";
import { requireRestored } from "./db/restore-state.ts";
import { checkSecretKey } from "./db/secret-key.ts";
import { signInFailures, toldFailures } from "./domain/sessions.ts";
import { refusalLimits } from "./domain/key-rules.ts";
import { createEvidenceStore } from "./evidence/create.ts";
import type { AnyHandler } from "./http/mount.ts";
import type { Health } from "./http/health.ts";
import { createReadiness } from "./http/readiness.ts";
import { listenAddress, mostWaiting, takeSocket } from "./http/listen-address.ts";
import { createServer } from "./http/server.ts";
import { showServers } from "./http/server-metrics.ts";
import { readWebFiles } from "./http/web.ts";
import { backupCrews } from "./jobs/backups.ts";
import { type Crew, startBackground } from "./jobs/background.ts";
import { watchJobs } from "./jobs/health.ts";
import { showBackups, showPartitions, showStoppedJobs } from "./jobs/metrics.ts";
import { startOutOfQuarantine } from "./jobs/quarantine.ts";
import { inRightTime, runInRightTime } from "./jobs/right-time.ts";
import { type JobRunner } from "./jobs/runner.ts";
import { tracedTasks } from "./jobs/traced.ts";
import { auditSchedule, auditTasks, deliveryTasks, jobTasks, quietTasks, schedule } from "./jobs/tasks.ts";
import { senders } from "./modules/notices/notifications/places.ts";
import { walSchedule, walTasks } from "./jobs/wal-archive.ts";
import { library } from "./lib/bucket/client.ts";
import type { Clock } from "./lib/clock.ts";
import { FailureLimit } from "./lib/failure-limit.ts";
import { createIdSource, type IdSource } from "./lib/ids.ts";
import { createLinks } from "./lib/links.ts";
import { isLoopbackAddress } from "./lib/network.ts";
import { holdParts } from "./lib/parts.ts";
import { createSandbox } from "./lib/sandbox/sandbox.ts";
import { createSecretBox } from "./lib/secret-box.ts";
import { openTracing, type Tracing } from "./lib/tracing/tracing.ts";
import { createTimeGuard, type TimeGuard, type TimeSources, trustedTime } from "./lib/time-guard.ts";
import { showCallers } from "./modules/kernel/access/service.ts";
import { trackKeyUse } from "./modules/kernel/access/use-service.ts";
import type { Deps } from "./modules/kernel/deps.ts";
import { csvHandlers, gates, handlers } from "./modules/handlers.ts";
import { showAuditLag } from "./modules/kernel/audit/push-service.ts";
import { createHealthChecks } from "./modules/kernel/health.ts";
import { copyEvidence } from "./modules/maintenance/wal/evidence-service.ts";
import { forwardWal } from "./modules/maintenance/wal/forward-service.ts";
import { carryLeftWal, noteDestination } from "./modules/maintenance/wal/left-service.ts";
import { showWalArchive } from "./modules/maintenance/wal/state-service.ts";
import { createMetrics, showTraces } from "./modules/kernel/metrics.ts";
import { showInstance } from "./modules/maintenance/health/figures-service.ts";
import { watchHealth } from "./modules/maintenance/health/service.ts";
import { timeDeliveriesBy } from "./modules/notices/notifications/service.ts";
import { showWaitingDeliveries } from "./modules/notices/notifications/waiting-service.ts";
import { showTime } from "./modules/kernel/time/service.ts";
import { timeRecords } from "./modules/kernel/time/store.ts";
import {
  programVersion,
  migrationNames,
  prepareDatabase,
  openDatabase,
  openReplica,
  backupBeforeRewriting,
} from "./open-database.ts";

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
  /** What `startTracing` gave. */
  tracing?: Tracing | undefined;
  /** Kinds of background jobs beside the program's own. */
  tasks?: TaskList;
  /** Called when the managed PostgreSQL is lost for good. */
  onFatal?: (error: Error) => void;
}

function createTime(db: Database, { clock, timeSources: sources, log }: AppOptions): TimeGuard {
  if (clock !== undefined) return trustedTime(clock);
  return createTimeGuard({
    records: timeRecords(db),
    log,
    ...(sources === undefined ? {} : { sources }),
  });
}

/** Makes what tells all that wait for something when the server stops. They are as many as there are requests that wait. */
function createStopping(): AbortController {
  const stopping = new AbortController();
  setMaxListeners(0, stopping.signal);
  return stopping;
}

/** Makes everything modules need, from the configuration and an open database. */
export function createDeps(config: Config, db: Database, options: AppOptions): Deps {
  const time = createTime(db, options);
  return {
    config,
    version: programVersion(),
    stopping: createStopping(),
    db,
    replica: undefined,
    request: undefined,
    tracing: options.tracing,
    clock: time,
    time,
    ids: options.ids ?? createIdSource(() => time.idMilliseconds()),
    log: options.log,
    links: createLinks(config.publicUrl),
    secrets: createSecretBox(loadSecretKey(config)),
    evidence: createEvidenceStore(config.evidence),
    sandbox: createSandbox(),
    metrics: createMetrics(config.metricsByOrg),
    health: createHealthChecks({ version: programVersion(), now: () => time.now(), log: options.log }),
    signInFailures: new FailureLimit(signInFailures),
    toldFailures: new FailureLimit(toldFailures),
    refusals: {
      address: new FailureLimit(refusalLimits.address),
      key: new FailureLimit(refusalLimits.key),
    },
  };
}

/** Begins to make traces, where they are wanted. @throws TracingMissing when what makes them is not installed. */
export function startTracing({ traces }: Config, log: Logger): Promise<Tracing | undefined> {
  const version = { "service.version": programVersion(), "telemetry.sdk.version": programVersion() };
  return openTracing(traces && { ...traces, resource: { ...version, ...traces.resource } }, log);
}

/** Reads what requests and jobs load late: the package's files may be replaced, or removed, before they do. */
async function holdFiles({ evidence, backups }: Config): Promise<void> {
  const usesBucket = evidence.s3 !== undefined || backups.s3 !== undefined;
  await Promise.all([holdParts(), usesBucket && library()]);
}

/** Builds the program: opens the database, migrates it, wires modules and server. It does not listen yet. */
export async function createApp(config: Config, options: AppOptions): Promise<App> {
  // First: whoever wants traces and cannot have them is told before anything is changed.
  const tracing = await startTracing(config, options.log);
  const holding = holdFiles(config);
  // Awaited below.
  holding.catch(() => {});
  const { db, close } = await openDatabase(config, options);
  const replica = openReplica(config, db, options);
  const closeAll = async (): Promise<void> => {
    await replica?.close();
    await close();
  };
  let stopAll = closeAll;
  try {
    await holding;
    await requireRestored(db);
    const { distributed } = await prepareDatabase(
      db,
      options.log,
      backupBeforeRewriting(config, db, options.log),
    );
    if (replica !== undefined && distributed)
      throw new ConfigError(["DATABASE_READ_URL must not be set on Citus: its log lacks what workers write"]);
    await replica?.requireKin().catch((err: unknown) => {
      if (err instanceof ForeignReplicaError) throw err;
      options.log.warn({ err }, "the replica is away, all reads go to the primary");
    });
    const deps = { ...createDeps(config, db, { ...options, tracing }), replica };
    await checkSecretKey(db, deps.secrets.fingerprint);
    const { evidence, stop: stopCopying } = copyEvidence(deps);
    await noteDestination(deps);
    const forwarding = forwardWal(deps);
    const carrying = carryLeftWal(deps);
    stopAll = async () => {
      await Promise.all([stopCopying(), carrying.stop()]);
      await closeAll();
      // PostgreSQL writes the last file when it ends.
      await forwarding.stop();
    };
    const { log, tasks } = options;
    return await assembleApp({ ...deps, evidence }, stopAll, { log, tasks, distributed });
  } catch (error) {
    await stopAll();
    throw error;
  }
}

/** How long requests under way may take when the server stops; who sends that slowly is cut off. */
const stopWithinMs = 20_000;

/** How long the export of the last traces may take when the server stops. */
const exportWithinMs = 2_000;

/** Listens where the configuration says: on the socket that was handed over, or on a new one. @returns the address. */
async function listenFor(server: FastifyInstance, config: Config): Promise<string> {
  const { host, port, inheritedSocket } = config;
  if (inheritedSocket === undefined)
    return server.listen({ port, host: await listenAddress(host), backlog: mostWaiting });
  await server.ready();
  const address = await takeSocket(server.server, inheritedSocket);
  const { hostname } = new URL(address);
  if (config.isPlainTextUnsafe && !isLoopbackAddress(hostname.replace(/^\[|\]$/g, "")))
    throw new ConfigError([
      `The socket that was handed over must be this machine's alone: ${plainTextRefusal}`,
    ]);
  return address;
}

/** Joins the servers that answer requests on this database. */
function joinOthers({ log }: Deps, lasting: LastingConnection): LiveServers {
  return joinServers({
    lasting,
    onError: (err) => log.warn({ err }, "the servers on the database cannot be counted"),
  });
}

/** What an assembled program is besides its parts. */
interface AssembleOptions {
  log: Logger;
  /** Kinds of background jobs beside the program's own. */
  tasks?: TaskList | undefined;
  /** Whether the database is distributed over several nodes. */
  distributed: boolean;
}

interface JobsOptions extends AssembleOptions {
  lasting: LastingConnection;
  /** Whether others are to be told nothing. */
  held: boolean;
}

/** Begins the background work of a server. */
function startJobs(deps: Deps, { tasks: moreTasks, distributed, lasting, held }: JobsOptions): JobRunner {
  const all: Crew[] = [
    { tasks: inRightTime(deps.time, { ...tracedTasks(deps, jobTasks), ...moreTasks }), schedule },
    // Who does not answer keeps nothing but its organization's other targets waiting.
    { tasks: inRightTime(deps.time, tracedTasks(deps, deliveryTasks)), concurrency: senders },
    // Targets that do not answer keep no other jobs waiting.
    ...(deps.config.auditTargets.length === 0
      ? []
      : [
          {
            tasks: inRightTime(deps.time, tracedTasks(deps, auditTasks)),
            schedule: auditSchedule,
            concurrency: 1,
          },
        ]),
    ...backupCrews(deps).map((crew) => ({ ...crew, tasks: inRightTime(deps.time, crew.tasks) })),
  ];
  if (deps.config.wal !== undefined)
    // A copy of the whole database takes long.
    all.push({
      tasks: inRightTime(
        deps.time,
        tracedTasks(deps, (own) => walTasks(own, programVersion())),
      ),
      schedule: walSchedule,
      concurrency: 2,
    });
  return startBackground({
    db: deps.db,
    lasting,
    distributed,
    log: deps.log,
    // A data directory has one server.
    alone: deps.config.databaseUrl === undefined,
    crews: held ? [{ tasks: inRightTime(deps.time, tracedTasks(deps, quietTasks)) }] : all,
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

/** Registers what is shown and checked of the program when somebody asks. */
function showFigures(deps: Deps): void {
  // First: before the other figures take connections themselves, when they are read.
  const migrations = migrationNames();
  showInstance(deps, { version: programVersion(), migrations });
  showWaitingDeliveries(deps);
  showTime(deps);
  showCallers(deps);
  showTraces(deps);
  showStoppedJobs(deps);
  showPartitions(deps);
  showBackups(deps);
  showWalArchive(deps);
  showAuditLag(deps);
  watchHealth(deps, migrations);
  watchJobs(deps);
}

const anyHandlers = handlers as unknown as Record<string, AnyHandler>;

/** Wires modules, jobs and server around an open, migrated database. */
export async function assembleApp(
  deps: Deps,
  closeDatabase: () => Promise<void>,
  options: AssembleOptions,
): Promise<App> {
  const { roles, web } = deps.config;
  const keyUse = trackKeyUse(deps);
  const lasting = createLastingConnection(deps.db);
  showFigures(deps);
  timeDeliveriesBy(() => deps.time.idMilliseconds());
  await deps.time.start();
  let jobs: JobRunner | undefined;
  let servers: LiveServers | undefined;
  showServers(deps, () => servers?.count() ?? 1);
  let state: State = "starting";
  const server = await createServer(deps, {
    log: options.log,
    mounted: { endpoints, handlers: anyHandlers, csv: csvHandlers, gates, keyUse },
    health: createHealth(deps, () => state),
    version: deps.version,
    web: web === undefined || !roles.api ? undefined : readWebFiles(web),
    servers: () => servers?.count() ?? 1,
  });
  return {
    deps,
    server,
    listen: async () => {
      state = "ready";
      const address = await listenFor(server, deps.config);
      if (roles.api && deps.config.databaseUrl !== undefined) servers = joinOthers(deps, lasting);
      // After that, so that no job can keep a server from starting.
      if (roles.jobs)
        jobs = startOutOfQuarantine(deps, (held) => startJobs(deps, { ...options, lasting, held }));
      return address;
    },
    stop: async () => {
      state = "stopping";
      deps.stopping.abort();
      deps.time.stop();
      const jobsEnd = jobs?.stop();
      // Awaited below.
      jobsEnd?.catch(() => {});
      try {
        await server.draining.drain(deps.config.drainSeconds * 1000, stopWithinMs);
        deps.time.stop();
        await server.close();
        await servers?.stop();
        await jobsEnd;
        await deps.sandbox.close();
        await keyUse.stop();
      } finally {
        await lasting.close();
        // Whatever went wrong before: PostgreSQL must not be left running.
        await Promise.all([closeDatabase(), deps.tracing?.stop(exportWithinMs)]);
      }
    },
  };
}
