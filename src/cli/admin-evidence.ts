import { findSharedEvidence } from "../db/evidence-mark.ts";
import { invalid } from "../domain/errors.ts";
import { appendInstanceEntry } from "../modules/kernel/audit/service.ts";
import { takeOverEvidence } from "../modules/process/evidence/mark-service.ts";
import {
  findOrphans,
  removeOrphan,
  sharedEvidenceText,
  verifyContents,
} from "../modules/process/evidence/verify-service.ts";
import { commandActor, type CommandDeps } from "./command-deps.ts";
import { CliError, print } from "./output.ts";

export interface VerifyOptions {
  removeOrphans?: boolean;
  /** Hours. */
  olderThan: string;
}

/** Uploads take minutes at most; less than this could be one that is under way. */
const leastHours = 1;

function seconds(hours: string): number {
  const number = Number(hours);
  if (!/^\d{1,6}(?:\.\d+)?$/.test(hours) || number < leastHours)
    throw invalid(`--older-than must be a number of hours, at least ${leastHours}`);
  return number * 3600;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/** @returns how many files are not as they were stored. */
async function reportContents(deps: CommandDeps): Promise<number> {
  const total = { files: 0, bytes: 0, problems: 0 };
  for await (const { size, finding } of verifyContents(deps)) {
    total.files += 1;
    total.bytes += size;
    if (finding === undefined) continue;
    total.problems += 1;
    print.line(`${finding.problem}  ${finding.sha256}`);
  }
  print.line(`Checked ${count(total.files, "file")}, ${count(total.bytes, "byte")}`);
  return total.problems;
}

async function reportOrphans(deps: CommandDeps, options: VerifyOptions): Promise<void> {
  const age = seconds(options.olderThan);
  const since = await findSharedEvidence(deps.db);
  const removing = options.removeOrphans === true && since === undefined;
  const total = { files: 0, bytes: 0 };
  for await (const orphan of findOrphans(deps, age)) {
    if (removing && !(await removeOrphan(deps, orphan.sha256))) continue;
    total.files += 1;
    total.bytes += orphan.size;
    print.line(`${removing ? "removed" : "orphan"}  ${orphan.sha256}`);
  }
  const done = removing ? "Removed" : "Found";
  print.line(`${done} ${count(total.files, "orphan")}, ${count(total.bytes, "byte")}`);
  if (options.removeOrphans !== true) return;
  if (since !== undefined) print.line(sharedEvidenceText(since));
  print.line(`Removed ${count(await deps.evidence.removeAbandoned(age), "unfinished upload")}`);
}

/**
 * Runs `waybill admin evidence verify`: reads everything that is stored and names what is not as it should be. Orphans are no
 * damage. @throws CliError when there is damage, so that the exit status says so.
 */
export async function verifyEvidence(deps: CommandDeps, options: VerifyOptions): Promise<void> {
  seconds(options.olderThan);
  const problems = await reportContents(deps);
  await reportOrphans(deps, options);
  if (problems > 0) throw new CliError(`${count(problems, "file")} not as stored: restore from a backup`);
}

/**
 * Runs `waybill admin evidence take-over`: says that the installation whose backup was restored here is gone, so that its evidence is that of
 * this database alone. @throws ForeignEvidenceError where there is none.
 */
export async function takeOver(deps: CommandDeps): Promise<void> {
  const { place } = deps.evidence.mark;
  const actor = commandActor("evidence take-over");
  const isChanged = await takeOverEvidence(deps, (tx) =>
    appendInstanceEntry(deps, tx, {
      actor,
      action: "evidence_taken_over",
      resource_type: "evidence",
      resource: place,
    }),
  );
  print.line(
    isChanged
      ? `Taken over: what ${place} marks is the evidence of this database alone`
      : "This evidence is that of this database alone already",
  );
}
