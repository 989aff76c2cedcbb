import { invalid, notFound } from "../domain/errors.ts";
import { dropStopped, listStopped, retryStopped } from "../jobs/stopped-store.ts";
import { date, table } from "./admin-lists.ts";
import type { CommandDeps } from "./command-deps.ts";
import { print } from "./output.ts";

const shownLength = 100;

function shorten(text: string): string {
  const line = text.replaceAll(/\s+/g, " ");
  return line.length > shownLength ? `${line.slice(0, shownLength)}…` : line;
}

function jobId(text: string): number {
  const id = Number(text);
  if (!/^\d{1,15}$/.test(text)) throw invalid(`'${text}' is not the number of a job`);
  return id;
}

function noSuchJob(id: number): Error {
  return notFound(`Job ${id} is not set aside and has not failed for good: see \`waybill admin jobs list\``);
}

/** Runs `waybill admin jobs list`: shows background jobs that are no longer tried, or during which servers ended. */
export async function listJobs(deps: CommandDeps): Promise<void> {
  const jobs = await listStopped(deps.db);
  if (jobs.length === 0) return print.line("No background job is set aside, suspected or failed for good");
  const rows = jobs.map((job) => [
    job.id,
    job.task,
    job.state,
    job.ends,
    `${job.attempts}/${job.max_attempts}`,
    date(job.created_at),
    shorten(JSON.stringify(job.payload)),
    shorten(job.last_error ?? ""),
  ]);
  const heading = ["JOB", "TASK", "STATE", "SERVERS ENDED", "TRIES", "QUEUED", "ABOUT", "ERROR"];
  for (const line of table(heading, rows)) print.line(line);
}

/** Runs `waybill admin jobs retry`: has a stopped job tried again. @throws AppError not_found for a job that is not stopped. */
export async function retryJob(deps: CommandDeps, given: string): Promise<void> {
  const id = jobId(given);
  if (!(await retryStopped(deps.db, id))) throw noSuchJob(id);
  print.line(`Job ${id} will be tried again`);
}

/** Runs `waybill admin jobs drop`: removes a stopped job. @throws AppError not_found for a job that is not stopped. */
export async function dropJob(deps: CommandDeps, given: string): Promise<void> {
  const id = jobId(given);
  if (!(await dropStopped(deps.db, id))) throw noSuchJob(id);
  print.line(`Removed job ${id}: its work will not be done`);
}
