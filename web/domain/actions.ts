import type { environmentTriggers, flowTriggers } from "../../src/domain/actions.ts";

export type EnvironmentTrigger = (typeof environmentTriggers)[number];
export type FlowTrigger = (typeof flowTriggers)[number];
type Trigger = EnvironmentTrigger | FlowTrigger;

/** What each trigger waits for, after "When". */
export const triggerWords: Readonly<Record<Trigger, string>> = {
  ON_NON_COMPLIANT_ENV: "it becomes non-compliant",
  ON_COMPLIANT_ENV: "it becomes compliant",
  ON_STARTED_ARTIFACT: "an artifact starts",
  ON_EXITED_ARTIFACT: "an artifact exits",
  ON_ALLOWED_ARTIFACT: "an artifact is put on the allow-list",
  ON_SILENT_ENV: "its reporter falls silent",
  ON_SCALED_ARTIFACT: "an artifact is scaled",
  ON_STARTED_TRAIL: "a trail begins",
  ON_ATTESTED_PROVENANCE: "an artifact is reported",
  ON_ATTESTATION: "evidence is reported",
  ON_APPROVAL: "something is approved",
  ON_RELEASE: "something is released",
};

/** Triggers that may fire, in the order they are offered in; the others are accepted of old and never do. */
export const offeredTriggers = {
  env: [
    "ON_NON_COMPLIANT_ENV",
    "ON_COMPLIANT_ENV",
    "ON_STARTED_ARTIFACT",
    "ON_EXITED_ARTIFACT",
    "ON_ALLOWED_ARTIFACT",
    "ON_SILENT_ENV",
  ],
  flow: ["ON_STARTED_TRAIL", "ON_ATTESTED_PROVENANCE", "ON_ATTESTATION"],
} as const satisfies { env: readonly EnvironmentTrigger[]; flow: readonly FlowTrigger[] };

const words = new Map<string, string>(Object.entries(triggerWords));

/** Says what a trigger waits for. One that this page does not know is named as it is. */
export function wordsOfTrigger(trigger: string): string {
  return words.get(trigger) ?? trigger;
}

/** Puts what fails first; the rest stays in the order it came in. */
export function failingFirst<Action extends { is_failing: boolean | null }>(
  actions: readonly Action[],
): Action[] {
  return [
    ...actions.filter(({ is_failing }) => is_failing === true),
    ...actions.filter(({ is_failing }) => is_failing !== true),
  ];
}

export type TargetType = "WEBHOOK" | "SLACK" | "EMAIL";

/** A target while it is written. */
export interface DraftTarget {
  key: number;
  type: TargetType;
  /** Address of a webhook; empty keeps the one that is stored, which nobody can read. */
  webhook: string;
  /** Addresses of people, apart by commas, spaces or lines. */
  emails: string;
  /** Where it stood among the stored targets. */
  was?: number;
}

/** A target as the API tells it. */
export type StoredTarget =
  | { type: "WEBHOOK" }
  | { type: "SLACK"; context: { channel_id: string; channel_name: string; team_id: string } | null }
  | { type: "EMAIL"; emails: string[] };

/** Makes what can be written of targets that are stored. */
export function draftTargets(stored: readonly StoredTarget[]): DraftTarget[] {
  return stored.map((target, was) => ({
    key: was,
    was,
    type: target.type,
    webhook: "",
    emails: target.type === "EMAIL" ? target.emails.join("\n") : "",
  }));
}

/**
 * Says whether a target's address has to be given: a stored one is kept only by the target of the same type in the same place.
 * @param place where it stands now, from 0.
 */
export function needsAddress({ type, was }: DraftTarget, place: number): boolean {
  return type !== "EMAIL" && was !== place;
}

/** Reads the addresses in a text. */
export function addressesIn(text: string): string[] {
  return [...new Set(text.split(/[\s,;]+/).filter((address) => address !== ""))];
}

/** Writes targets as the API takes them. */
export function givenTargets(targets: readonly DraftTarget[]) {
  return targets.map(({ type, webhook, emails }) => {
    if (type === "EMAIL") return { type, emails: addressesIn(emails) };
    return { type, webhook: webhook.trim() };
  });
}
