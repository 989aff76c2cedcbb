import type { Diagnosis } from "../domain/doctor.ts";
import { answerWithin } from "../lib/answer-within.ts";

/** Kinds of checks, in the order in which they are shown. */
export const doctorGroups = [
  "program",
  "machine",
  "network",
  "database",
  "keys",
  "backups",
  "evidence",
  "services",
  "plans",
] as const;
type DoctorGroup = (typeof doctorGroups)[number];

/** Something to look at. */
export interface DoctorCheck {
  group: DoctorGroup;
  name: string;
  /** @returns undefined for what cannot be looked at now, or is not set up. */
  look(): Promise<Diagnosis | undefined> | Diagnosis | undefined;
}

/** What one check found. */
export interface DoctorFinding extends Diagnosis {
  group: DoctorGroup;
  name: string;
}

/** How long one check is waited for, in milliseconds. */
const patienceMs = 5_000;

async function tried(look: DoctorCheck["look"]): Promise<Diagnosis | undefined> {
  try {
    return await look();
  } catch (error) {
    const reason = error instanceof Error ? error.message || error.name : String(error);
    const remedy = "Mend what the reason names, and look again";
    return { status: "failing", detail: `could not be checked: ${reason}`, remedy };
  }
}

/** Makes one check, within five seconds, whatever it does. @returns undefined for one that did not apply. */
export async function makeCheck(
  { group, name, look }: DoctorCheck,
  ms = patienceMs,
): Promise<DoctorFinding | undefined> {
  const found = await answerWithin(ms, tried(look), () => ({
    status: "failing" as const,
    detail: `no answer within ${ms / 1000} s`,
    remedy: "See whether what it asks hangs, and look again",
  }));
  return found && { group, name, ...found };
}
