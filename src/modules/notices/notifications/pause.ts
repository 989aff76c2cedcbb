import type { Deps } from "../../kernel/deps.ts";
import { keptByProgram } from "../../kernel/program-deps.ts";

/** How long a target is left alone after it did not answer, in seconds: first, and at most. Twice as long each time that it still does not. */
const pauseSeconds = { first: 15, longest: 300 };
const maxTargets = 10_000;

interface Silence {
  /** When it was last found silent, Unix seconds. */
  noticedAt: number;
  pause: number;
  /** Until when it is left alone. */
  until: number;
}

/** Targets that did not answer. Forgetting them costs a few attempts, nothing else. */
const silencesOf = keptByProgram(() => new Map<string, Silence>());

/**
 * Says whether a target did not answer a moment ago. Waiting for it again and again would keep everybody else's messages
 * waiting.
 */
export function isPaused(deps: Deps, target: string): boolean {
  return deps.clock.now() < (silencesOf(deps).get(target)?.until ?? 0);
}

/** Leaves a target that was silent to one attempt, which takes so many seconds at most: what is due meanwhile would wait as it does. */
export function recordAttempt(deps: Deps, target: string, seconds: number): void {
  const silence = silencesOf(deps).get(target);
  if (silence !== undefined) silence.until = deps.clock.now() + seconds;
}

/** Records whether a target answered, whatever it said, to an attempt that began at some moment. */
export function recordAnswer(
  deps: Deps,
  target: string,
  { answered, beganAt }: { answered: boolean; beganAt: number },
): void {
  const silences = silencesOf(deps);
  const known = silences.get(target);
  silences.delete(target);
  if (answered) return;
  if (silences.size >= maxTargets) silences.clear();
  // Attempts that were under way together found the same silence.
  if (known !== undefined && beganAt < known.noticedAt) return void silences.set(target, known);
  const { first, longest } = pauseSeconds;
  const pause = known === undefined ? first : Math.min(known.pause * 2, longest);
  const noticedAt = deps.clock.now();
  silences.set(target, { noticedAt, pause, until: noticedAt + pause });
}
