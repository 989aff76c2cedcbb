import type { Task, TaskList } from "graphile-worker";

import { type Cron, mostDaysBetween } from "../lib/cron.ts";
import type { Deps } from "../modules/kernel/deps.ts";
import type { Crew } from "./background.ts";
import { tracedTasks } from "./traced.ts";
import { runCommand } from "./run-command.ts";

const backupTask = "backup";
const drillTask = "restore_drill";

/** Exit status of commands that did their work, but found something somebody should look at. */
const withWarnings = 3;

/** Does what a command does, in a process of its own. @throws Error with what the command says of its failure. */
async function command(
  { log, version }: Pick<Deps, "log" | "version">,
  args: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const { status, printed, told } = await runCommand([...args, "--json", "--scheduled"], version, signal);
  const facts = { command: args[0], printed: printed.trim() };
  if (status === 0) log.info(facts, "done by the clock");
  else if (status === withWarnings)
    log.warn({ ...facts, told: told.trim() }, "done by the clock, with warnings");
  else throw new Error(told.trim() || `waybill ${args[0]} ended without a word (${status})`);
}

/**
 * How often each is tried. The pause after a try is e times the one before: eight come to half an hour, in which a share or a service that was away is
 * back. What fails a drill lasts, and each try restores everything.
 */
const triesOf = { [backupTask]: 8, [drillTask]: 3 } as const;
type TaskName = keyof typeof triesOf;

/** What was missed for so many days is made up for: whatever is done each month. */
const mostDaysMissed = 31;

/**
 * Makes a task of a command. A server that stops does not wait for it: the command is told to give up, and the job is queued once more, with all
 * its tries, for whoever works on jobs next.
 */
function taskOf(deps: TaskDeps, name: TaskName, args: readonly string[]): Task {
  return async (payload, { abortSignal, addJob }) => {
    const stopping = deps.stopping.signal;
    try {
      await command(deps, args, AbortSignal.any([stopping, abortSignal]));
    } catch (error) {
      if (!stopping.aborted) throw error;
      await addJob(name, payload, { jobKey: name, maxAttempts: triesOf[name] });
      deps.log.info({ command: args[0] }, "given up, because the server stops, and queued again");
    }
  };
}

type TaskDeps = Pick<Deps, "config" | "log" | "stopping" | "version">;

function tasksOf(deps: TaskDeps): TaskList {
  const { to, keep } = deps.config.backups;
  if (to === undefined) return {};
  const rule = keep === undefined ? [] : ["--keep", keep.text];
  return {
    [backupTask]: taskOf(deps, backupTask, ["backup", "--to", `${to}/`, ...rule]),
    [drillTask]: taskOf(deps, drillTask, ["restore", "drill"]),
  };
}

/**
 * Gives those who make backups, and see that they can be restored, by the clock: nobody where no folder is set. A run that was missed is
 * made up for once, also one of a week or a month.
 */
export function backupCrews(deps: Deps): Crew[] {
  const { to, at, drillAt } = deps.config.backups;
  if (to === undefined) return [];
  const line = (time: Cron, task: TaskName): string =>
    `${time.text} ${task} ?fill=${Math.min(mostDaysBetween(time), mostDaysMissed)}d&max=${triesOf[task]}&jobKey=${task}`;
  const schedule = [line(at, backupTask), ...(drillAt ? [line(drillAt, drillTask)] : [])];
  return [{ tasks: tracedTasks(deps, tasksOf), concurrency: 1, schedule: schedule.join("\n"), apart: true }];
}
