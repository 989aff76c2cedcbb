import type { Deps } from "../../kernel/deps.ts";
import { keptByProgram } from "../../kernel/program-deps.ts";

/** How long a target is left alone after it did not answer, in seconds. */
const pauseSeconds = 15;
const maxTargets = 10_000;

/** Until when targets are left alone, Unix seconds by target. Forgetting it costs a few attempts, nothing else. */
const pausesOf = keptByProgram(() => new Map<string, number>());

/**
 * Says whether a target did not answer a moment ago. Waiting for it again and again would keep everybody else's messages
 * waiting.
 */
export function isPaused(deps: Deps, target: string): boolean {
  return deps.clock.now() < (pausesOf(deps).get(target) ?? 0);
}

/** Records whether a target answered, whatever it said. */
export function recordAnswer(deps: Deps, target: string, answered: boolean): void {
  const known = pausesOf(deps);
  known.delete(target);
  if (answered) return;
  if (known.size >= maxTargets) known.clear();
  known.set(target, deps.clock.now() + pauseSeconds);
}
