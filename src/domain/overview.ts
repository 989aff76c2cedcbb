import { daySeconds } from "../lib/units.ts";

/** Why an environment needs attention: something in it breaks the rules, or its reporter is silent. */
export const attentionReasons = ["non_compliant", "stale"] as const;

/** Environments that an overview names at most. */
export const attentionLimit = 20;

/** Seconds that an overview looks back at trails. */
export const trailWindow = daySeconds;
