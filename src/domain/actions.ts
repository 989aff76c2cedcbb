/** Notification rules: which triggers, in which environments or flows, tell which targets (domain terms of the API). */

/** What actions watch: environments or flows. */
export const actionTypes = ["env", "flow"] as const;
export type ActionType = (typeof actionTypes)[number];

/** What may trigger an action on environments. `ON_SCALED_ARTIFACT` is accepted for compatibility and never fires. */
export const environmentTriggers = [
  "ON_STARTED_ARTIFACT",
  "ON_EXITED_ARTIFACT",
  "ON_SCALED_ARTIFACT",
  "ON_ALLOWED_ARTIFACT",
  "ON_NON_COMPLIANT_ENV",
  "ON_COMPLIANT_ENV",
  "ON_SILENT_ENV",
] as const;

/**
 * What may trigger an action on flows. `ON_APPROVAL` and `ON_RELEASE` are accepted for compatibility and never fire.
 */
export const flowTriggers = [
  "ON_STARTED_TRAIL",
  "ON_ATTESTED_PROVENANCE",
  "ON_ATTESTATION",
  "ON_APPROVAL",
  "ON_RELEASE",
] as const;

export const actionLimits = {
  /** Number of environments or flows of one action. */
  subjects: 1000,
  targets: 20,
  emails: 100,
  emailLength: 254,
  webhookLength: 2048,
} as const;

export interface SlackContext {
  channel_id: string;
  channel_name: string;
  team_id: string;
}

/** How somebody can be told: see `OpenTarget`. */
export const targetTypes = ["WEBHOOK", "SLACK", "EMAIL"] as const;
export type TargetType = (typeof targetTypes)[number];

/** The part of a target that may be shown. The address of a webhook is secret: whoever knows it can post there. */
export type OpenTarget =
  | { type: "WEBHOOK"; payload_version: "1.0" }
  | { type: "SLACK"; context: SlackContext | null }
  | { type: "EMAIL"; emails: string[] };

/** A target's webhook address; null for e-mail. An action's are kept in the order of its targets. */
export type TargetSecret = string | null;

const largestNumber = 2_147_483_647;

/** Reads an action's number as its URL has it; undefined when no action can have it. */
export function parseActionNumber(text: string): number | undefined {
  if (!/^[1-9]\d{0,9}$/.test(text)) return undefined;
  const number = Number(text);
  return number <= largestNumber ? number : undefined;
}
