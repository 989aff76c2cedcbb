import { setTimeout as delay } from "node:timers/promises";

import { AppError } from "../../../domain/errors.ts";
import type { Actor } from "../../../domain/principal.ts";
import { signInFailureMs } from "../../../domain/sessions.ts";
import { networkOf } from "../../../lib/network.ts";
import type { Browser } from "../../kernel/access/session-service.ts";
import { recordInstanceEntry } from "../../kernel/audit/service.ts";
import { unauthenticated } from "../../kernel/access/service.ts";
import type { Deps } from "../../kernel/deps.ts";
import type { SignInMethod } from "../../kernel/metrics.ts";

type AttemptDeps = Pick<Deps, "db" | "clock" | "log" | "metrics" | "signInFailures" | "toldFailures">;

/** Who tries to sign in, and how. */
interface Trying {
  method: SignInMethod;
  browser: Browser;
  actor: Actor;
}

/** Tells the log of the instance that somebody failed, once a minute for a way to sign in and a network. */
async function recordFailure(deps: AttemptDeps, { method, browser, actor }: Trying): Promise<void> {
  const who = `${method} ${networkOf(browser.address)}`;
  if (!deps.toldFailures.begin(who, deps.clock.now()).admitted) return;
  try {
    // Of what was sent, which may be a secret, not even a hash is recorded.
    await recordInstanceEntry(deps, {
      actor: { ...actor, request_digest: null },
      action: "sign_in_failed",
      resource_type: "sign_in",
      resource: method,
    });
  } catch (error) {
    deps.log.warn({ err: error }, "a failed sign-in could not be recorded");
  }
}

function requireFewFailures(deps: AttemptDeps, method: SignInMethod, address: string): () => void {
  const attempt = deps.signInFailures.begin(networkOf(address), deps.clock.now());
  if (attempt.admitted) return attempt.pardon;
  deps.metrics.signIns.inc({ method, outcome: "limited" });
  const { retryAfter } = attempt;
  throw new AppError("rate_limited", "Too many failed attempts to sign in, try again later", { retryAfter });
}

/**
 * Makes an attempt to sign in. Every failure has the same text and takes the same time, whatever it failed for; it is counted
 * for the address, and the log and the figures tell of it, without what was sent.
 * @param attempt answers undefined when what was sent does not work.
 * @throws AppError unauthenticated for a failure, rate_limited for an address that failed too often.
 */
export async function attemptSignIn<T>(
  deps: AttemptDeps,
  trying: Trying,
  attempt: () => Promise<T | undefined>,
): Promise<T> {
  const { method, browser } = trying;
  const pardon = requireFewFailures(deps, method, browser.address);
  const failed = delay(signInFailureMs, undefined, { ref: false });
  const result = await attempt().catch((error: unknown) => {
    // Nobody guessed wrong: it could not be tried, or was right and something else is in the way.
    pardon();
    throw error;
  });
  if (result !== undefined) {
    pardon();
    deps.metrics.signIns.inc({ method, outcome: "signed_in" });
    return result;
  }
  deps.metrics.signIns.inc({ method, outcome: "refused" });
  deps.log.warn({ method, ...browser }, "sign-in refused");
  await recordFailure(deps, trying);
  await failed;
  throw unauthenticated();
}
