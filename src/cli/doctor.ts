import { existsSync } from "node:fs";
import { join } from "node:path";

import { Command } from "commander";

import { type Config, readConfig } from "../config.ts";
import { isDistributed } from "../db/citus/distribute.ts";
import type { Database } from "../db/connect.ts";
import { type DoctorStatus, worstDiagnosis } from "../domain/doctor.ts";
import { judgePlan } from "../domain/plans.ts";
import { answerWithin } from "../lib/answer-within.ts";
import { listAppliedMigrations } from "../modules/maintenance/health/store.ts";
import { programVersion } from "../open-database.ts";
import { withAnyDatabase } from "./command-deps.ts";
import { backupChecks } from "./doctor-backups.ts";
import { type DoctorCheck, type DoctorFinding, doctorGroups, makeCheck } from "./doctor-checks.ts";
import { databaseChecks } from "./doctor-database.ts";
import { machineChecks } from "./doctor-machine.ts";
import { lookAtPlans } from "./doctor-plans.ts";
import { networkChecks } from "./doctor-network.ts";
import { CliError, print, WarningsError } from "./output.ts";

/** All that was found. */
interface DoctorReport {
  /** As the worst finding is. */
  status: DoctorStatus;
  /** Of the program. */
  version: string;
  findings: DoctorFinding[];
  /** Names of checks for which something has to run, be set up or be installed that is not. */
  not_checked: string[];
}

/** The PostgreSQL of a stopped server is started, and stopped again. */
const databaseMs = 120_000;

async function makeAll(checks: readonly DoctorCheck[], atOnce: boolean): Promise<DoctorReport["findings"]> {
  const found: (DoctorFinding | undefined)[] = [];
  // One after the other where they would wait for each other's connections.
  if (atOnce) found.push(...(await Promise.all(checks.map((check) => makeCheck(check)))));
  else for (const check of checks) found.push(await makeCheck(check));
  return found.filter((finding) => finding !== undefined);
}

const reachedName = "reachable";

/** Findings, and the names of all that was looked for. */
interface Looked {
  findings: DoctorFinding[];
  names: string[];
}

/** Looks at the plans of statements, each a finding of its own. */
async function judgePlans(db: Database): Promise<Looked> {
  const group = "plans" as const;
  // Those of Citus are of shards, on workers, where nobody looks at them.
  if (await isDistributed(db.pool)) return { findings: [], names: [group] };
  try {
    const { plans, missing } = await lookAtPlans(db);
    const findings = plans.map(({ name, plan }) => ({ group, name, ...judgePlan(plan) }));
    return { findings, names: [...missing, ...plans.map(({ name }) => name)] };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return {
      findings: [{ group, name: "plans", ...judgePlan(`cannot be looked at: ${reason}`) }],
      names: [],
    };
  }
}

/** Looks at the database; a single finding says why that was not possible. */
async function lookAtDatabase(config: Config, { plans }: DoctorOptions): Promise<Looked> {
  const isInstalled =
    config.databaseUrl !== undefined || existsSync(join(config.dataDir, "postgres", "PG_VERSION"));
  if (!isInstalled) return { findings: [], names: [reachedName] };
  const reached = { group: "database" as const, name: reachedName };
  const unreachable = (detail: string) => ({
    findings: [
      {
        ...reached,
        status: "failing" as const,
        detail,
        remedy:
          "Start the database, and check DATABASE_URL or WAYBILL_DATA_DIR; see `waybill upgrade --check`",
      },
    ],
    names: [],
  });
  const looking = withAnyDatabase(config, async (db) => {
    // Nothing else can be read of a database that was never set up.
    const applied = await listAppliedMigrations(db);
    const detail = `answers, and has ${applied.length} migrations`;
    const checks = databaseChecks(db, config);
    const findings = await makeAll(checks, false);
    const planned = plans === true ? await judgePlans(db) : { findings: [], names: [] };
    return {
      findings: [
        { ...reached, status: "ok" as const, detail, remedy: null },
        ...findings,
        ...planned.findings,
      ],
      names: [...checks.map(({ name }) => name), ...planned.names],
    };
  }).catch((error: unknown) => unreachable(error instanceof Error ? error.message : String(error)));
  return answerWithin(databaseMs, looking, () => unreachable(`no answer within ${databaseMs / 1000} s`));
}

/** What is looked at beside what always is. */
interface DoctorOptions {
  /** How PostgreSQL runs the statements that are run most. */
  plans?: boolean;
}

/** Looks at the whole installation, and changes nothing. */
export async function examine(config: Config, options: DoctorOptions = {}): Promise<DoctorReport> {
  const checks = [...machineChecks(config), ...networkChecks(config), ...backupChecks(config)];
  const found = await makeAll(checks, true);
  const { findings, names } = await lookAtDatabase(config, options);
  const all = [...found, ...findings];
  const made = new Set(all.map(({ name }) => name));
  return {
    status: worstDiagnosis(all),
    version: programVersion(),
    findings: doctorGroups.flatMap((group) => all.filter((finding) => finding.group === group)),
    not_checked: [...checks.map(({ name }) => name), ...names].filter((name) => !made.has(name)),
  };
}

function show({ findings, not_checked: missing, version }: DoctorReport): void {
  print.line(`Waybill ${version}`);
  for (const group of doctorGroups) {
    const ofGroup = findings.filter((finding) => finding.group === group);
    if (ofGroup.length === 0) continue;
    print.line(`\n${group}`);
    for (const { name, status, detail, remedy } of ofGroup) {
      print.line(`  ${status.padEnd(7)}  ${name.padEnd(16)}  ${detail}`);
      if (remedy !== null) print.line(`           ${" ".repeat(16)}  -> ${remedy}`);
    }
  }
  if (missing.length > 0)
    print.line(
      `\nNot checked, because it is not set up, or needs a running server or its database: ${missing.join(", ")}`,
    );
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;

async function doctor({ json, plans = false }: { json?: boolean; plans?: boolean }): Promise<void> {
  const report = await examine(readConfig(), { plans });
  if (json === true) print.line(JSON.stringify(report, undefined, 2));
  else show(report);
  const count = (status: DoctorStatus): number =>
    report.findings.filter((finding) => finding.status === status).length;
  const sentence = `${counted(count("failing"), "failure")}, ${counted(count("warning"), "warning")}`;
  if (report.status === "failing") throw new CliError(sentence);
  if (report.status === "warning") throw new WarningsError(sentence);
}

/** Builds `waybill doctor`: looks at the whole installation, and changes nothing. */
export function doctorCommand(): Command {
  return new Command("doctor")
    .description(
      "look at the whole installation and say what to do about what is found: 0 when all is well, 3 with warnings, 1 with failures; with the server running or not",
    )
    .option(
      "--plans",
      "run the 20 statements that are run most, once each in a transaction that writes nothing, and say how long they take and whether one reads a growing table from end to end",
    )
    .option("--json", "print what was found as JSON")
    .action(doctor);
}
