import { setTimeout as delay } from "node:timers/promises";

import { findQuarantine } from "../db/restore-state.ts";
import type { Deps } from "../modules/kernel/deps.ts";
import type { JobRunner } from "./runner.ts";

const lookEveryMs = 2_000;

/**
 * Starts background work: in a restored copy only what tells nobody anything, and all of it as soon as the copy is released.
 * @param start begins work, all of it or the quiet part.
 */
export function startOutOfQuarantine(
  { db, log }: Pick<Deps, "db" | "log">,
  start: (held: boolean) => JobRunner,
): JobRunner {
  const stopping = new AbortController();
  let runner: JobRunner | undefined;

  /** Whether it is held; what it was before while nobody can tell. */
  async function look(before: boolean | undefined): Promise<boolean | undefined> {
    try {
      const copy = await findQuarantine(db);
      if (copy !== undefined && before === undefined)
        log.warn(
          { copy },
          "this is a restored copy: nobody is notified, and nothing is done by the clock, until `waybill admin release-quarantine`",
        );
      return copy !== undefined;
    } catch (err) {
      log.warn({ err }, "background work waits for the database");
      return before;
    }
  }

  async function follow(): Promise<void> {
    let held: boolean | undefined;
    while (!stopping.signal.aborted && held !== false) {
      const now = await look(held);
      if (now !== held && now !== undefined) {
        await runner?.stop();
        if (held === true) log.info("the copy is released");
        runner = start(now);
        held = now;
      }
      if (held !== false) await delay(lookEveryMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  }

  const following = follow();
  return {
    stop: async () => {
      stopping.abort();
      await following;
      await runner?.stop();
    },
  };
}
