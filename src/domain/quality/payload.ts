import { z } from "zod";

import { isJsonObject } from "../../lib/json-object.ts";
import { present } from "../../lib/present.ts";

/** Largest body of a delivery: an analysis with hundreds of conditions has a tenth of it. */
export const maxDeliveryBytes = 1024 * 1024;

/** Why a delivery leads to no attestation, in a sentence for the person who set the webhook up. */
export class NoPlan extends Error {}

const text = z.string().nullish();

/** A list of objects. Only the first that is none becomes an issue: a delivery has room for half a million. */
const Conditions = z.array(z.unknown()).check((context) => {
  const at = context.value.findIndex((item) => !isJsonObject(item));
  if (at === -1) return;
  context.issues.push({ code: "invalid_type", expected: "object", input: context.value[at], path: [at] });
});

/**
 * The parts of an analysis that are read. Senders of several makes and years are understood, so everything may be
 * missing; what is there has to be of the right kind, because it is shown again.
 */
const Analysis = z.looseObject({
  serverUrl: text,
  taskId: text,
  status: text,
  analysedAt: text,
  changedAt: text,
  revision: text,
  project: z.looseObject({ key: text, name: text, url: text }).nullish(),
  branch: z.looseObject({ name: text, type: text, url: text }).nullish(),
  qualityGate: z.looseObject({ name: text, status: text, conditions: Conditions.nullish() }).nullish(),
  properties: z.looseObject({}).nullish(),
});

export type Analysis = z.output<typeof Analysis>;

const kinds: Record<string, string> = { string: "text", object: "an object", array: "a list" };

/**
 * Reads a delivery's JSON object as an analysis.
 * @throws NoPlan naming the first field of the wrong kind.
 */
export function readAnalysis(payload: Record<string, unknown>): Analysis {
  const parsed = Analysis.safeParse(payload);
  if (parsed.success) return parsed.data;
  const issue = present(parsed.error.issues[0], "what does not parse has an issue");
  const kind = issue.code === "invalid_type" ? kinds[issue.expected] : undefined;
  throw new NoPlan(`Field ${issue.path.join(".")} should be ${kind ?? "of another kind"}`);
}

/** Longest task id and project key that are looked up again. */
const maxKeyLength = 512;

/** Takes a text of the payload that is short enough to be looked up by; null for anything else. */
function keyText(value: unknown): string | null {
  return typeof value === "string" && value !== "" && value.length <= maxKeyLength ? value : null;
}

/** What a delivery is found by, as far as its payload has it. */
interface DeliveryKeys {
  /** Tells the deliveries of one analysis from those of another. Missing when a person's change caused it. */
  task_id: string | null;
  project_key: string | null;
}

/** Reads the keys of any JSON object, whether or not it is an analysis. */
export function deliveryKeys(payload: Record<string, unknown>): DeliveryKeys {
  const project = payload["project"];
  const key =
    typeof project === "object" && project !== null ? (project as Record<string, unknown>)["key"] : undefined;
  return { task_id: keyText(payload["taskId"]), project_key: keyText(key) };
}

/** Checks the task id. @throws NoPlan when it is there but too long to recognize the analysis by. */
export function checkTaskId(analysis: Analysis): void {
  if ((analysis.taskId ?? "").length > maxKeyLength)
    throw new NoPlan(`Field taskId has more than ${maxKeyLength} characters`);
}

const longestQuote = 100;

/** Quotes a value from outside for a sentence, and cuts it when it is long. */
export function quoted(value: string): string {
  const short = value.length > longestQuote ? `${value.slice(0, longestQuote)}…` : value;
  return `'${short.toWellFormed()}'`;
}
