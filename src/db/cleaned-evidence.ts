import type { Executor } from "./connect.ts";
import { findSetting, putSetting } from "./instance-settings.ts";

const setting = "evidence_cleaned";

/** Notes up to which address evidence was looked at for what belongs to nobody; "" when all of it was. */
export function noteCleanedEvidence(db: Executor, address: string): Promise<void> {
  return putSetting(db, setting, address);
}

/** Reads up to which address that was; "" to begin with the first. */
export async function findCleanedEvidence(db: Executor): Promise<string> {
  return (await findSetting(db, setting)) ?? "";
}
