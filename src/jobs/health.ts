import { judgeJobs } from "../domain/health.ts";
import type { Deps } from "../modules/kernel/deps.ts";
import { countOverdue, countStopped } from "./stopped-store.ts";

/** Registers the check of background jobs. Once for a program. */
export function watchJobs({ db, health }: Pick<Deps, "db" | "health">): void {
  health.add("jobs", async () => {
    const [stopped, overdue] = await Promise.all([countStopped(db), countOverdue(db)]);
    return judgeJobs({ ...stopped, overdue });
  });
}
