import type { TaskList } from "graphile-worker";

import type { Deps } from "../modules/deps.ts";

/** Every kind of background job, by the name it is queued under. */
export function jobTasks(_deps: Deps): TaskList {
  return {};
}
