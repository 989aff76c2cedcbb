/** Notification rules: which triggers, in which environments or flows, tell which targets (domain terms of the API). */

export type ActionType = "env" | "flow";

/** Accepted for compatibility though it never fires: `ON_SCALED_ARTIFACT`. */
export const environmentTriggers = [
  "ON_STARTED_ARTIFACT",
  "ON_EXITED_ARTIFACT",
  "ON_SCALED_ARTIFACT",
  "ON_ALLOWED_ARTIFACT",
  "ON_NON_COMPLIANT_ENV",
  "ON_COMPLIANT_ENV",
  "ON_SILENT_ENV",
] as const;

/** Accepted for compatibility though they never fire: `ON_APPROVAL` and `ON_RELEASE`. */
export const flowTriggers = [
  "ON_STARTED_TRAIL",
  "ON_ATTESTED_PROVENANCE",
  "ON_ATTESTATION",
  "ON_APPROVAL",
  "ON_RELEASE",
] as const;

export const actionLimits = {
  /** Environments or flows of one action. */
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

/** What of a target may be shown. The address of a webhook is a secret: whoever knows it can post there. */
export type OpenTarget =
  | { type: "WEBHOOK"; payload_version: "1.0" }
  | { type: "SLACK"; context: SlackContext | null }
  | { type: "EMAIL"; emails: string[] };

/** A target's webhook address; null for e-mail. Kept in the order of the targets. */
export type TargetSecret = string | null;

/** What an action does, whoever made it and whatever it is numbered. */
export interface ActionDefinition {
  type: ActionType;
  name: string;
  triggers: string[];
  targets: OpenTarget[];
  secrets: TargetSecret[];
}

const largestNumber = 2_147_483_647;

/** An action's number as its URL has it; undefined when no action can have it. */
export function parseActionNumber(text: string): number | undefined {
  if (!/^[1-9]\d{0,9}$/.test(text)) return undefined;
  const number = Number(text);
  return number <= largestNumber ? number : undefined;
}
