import type { TaskList } from "graphile-worker";

import type { Deps } from "../modules/kernel/deps.ts";
import { keepWalArchive, makeDueBase } from "../modules/maintenance/wal/keep-service.ts";

const keepTask = "keep_wal_archive";
const baseTask = "make_physical_backup";

/** What is queued by the clock where the write-ahead log is archived. */
export const walSchedule = `* * * * * ${keepTask} ?max=3&jobKey=${keepTask}`;

/** Jobs that look after the archive of the write-ahead log. @param program version of it. */
export function walTasks(deps: Deps, program: string): TaskList {
  return {
    [keepTask]: (_payload, { addJob }) =>
      keepWalArchive(deps, async () => {
        // One that runs, or waits for its next attempt, is left alone.
        await addJob(
          baseTask,
          {},
          { jobKey: baseTask, jobKeyMode: "unsafe_dedupe", maxAttempts: 32_767, queueName: baseTask },
        );
      }),
    [baseTask]: async () => {
      const { signal } = deps.stopping;
      try {
        await makeDueBase(deps, program, signal);
      } catch (error) {
        if (!signal.aborted) throw error;
        // Still due after the next start, and asked for within a minute.
        deps.log.info("A physical backup was given up, because the server stops");
      }
    },
  };
}
