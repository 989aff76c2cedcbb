import type { Executor } from "../../../db/connect.ts";
import { groupBy } from "../../../lib/group.ts";
import type { Deps } from "../../kernel/deps.ts";
import { findMisjudged } from "../../process/compliance/service.ts";
import { verifyContents } from "../../process/evidence/verify-service.ts";
import { listGaps, sampleTrails } from "./restore-store.ts";

/** What a check of a whole database found, in sentences. */
export interface CheckFindings {
  /** The database is not what it has to be. */
  failures: string[];
  /** Evidence that is not there, or not as it was stored. */
  warnings: string[];
}

const trailsJudged = 200;
const quickFiles = 1_000;

async function checkVerdicts(db: Executor): Promise<string[]> {
  const byOrganization = groupBy(await sampleTrails(db, trailsJudged), ({ org_id }) => org_id);
  const wrong: string[] = [];
  for (const [orgId, trails] of byOrganization)
    wrong.push(
      ...(await findMisjudged(
        db,
        orgId,
        trails.map(({ trail_id }) => trail_id),
      )),
    );
  return wrong.map((id) => `The verdict on trail ${id} is not what its reports come to`);
}

async function checkEvidence(deps: Pick<Deps, "db" | "evidence">, isQuick: boolean): Promise<string[]> {
  const found: string[] = [];
  let files = 0;
  for await (const { finding } of verifyContents(deps)) {
    files += 1;
    if (finding !== undefined) found.push(`Evidence ${finding.sha256} is ${finding.problem}`);
    if (isQuick && files === quickFiles) break;
  }
  return found;
}

/**
 * Checks what has to hold of every database: audit logs and builds without gaps, verdicts of 200 trails as they come out anew, and
 * evidence as it was stored. @param connection one without limits of time.
 */
export async function checkDatabase(
  deps: Pick<Deps, "db" | "evidence">,
  connection: Executor,
  isQuick: boolean,
): Promise<CheckFindings> {
  const gaps = await listGaps(connection);
  return {
    failures: [
      ...gaps.map(({ org_id, problem }) => `Organization ${org_id}: ${problem}`),
      ...(await checkVerdicts(connection)),
    ],
    warnings: await checkEvidence(deps, isQuick),
  };
}
