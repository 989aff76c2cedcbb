import { TooMuchToJudge } from "../../../../domain/judging.ts";
import type { Actor } from "../../../../domain/principal.ts";
import { wireId } from "../../../../lib/ids.ts";
import { recorded } from "../../../kernel/audit/service.ts";
import type { Deps } from "../../../kernel/deps.ts";
import { lockAll } from "../../environments/service.ts";
import { reevaluate } from "../../snapshots/report/evaluate-service.ts";
import { type ReevaluationJob, reevaluateTask } from "../../snapshots/report/judging-jobs.ts";

function jobActor(job: ReevaluationJob): Actor {
  return {
    kind: "system",
    id: null,
    name: "policies",
    api_key_id: null,
    action: reevaluateTask,
    request_id: wireId(job.environment_id),
    request_digest: null,
  };
}

/**
 * Judges one environment again, unless it was archived. Running it once more appends one more equal snapshot. Where more
 * has come together meanwhile than is judged at once the environment stays as it was judged, and the log says so: trying
 * again would come to the same.
 */
export async function runReevaluation(deps: Deps, job: ReevaluationJob): Promise<void> {
  try {
    await judgeAgain(deps, job);
  } catch (err) {
    if (!(err instanceof TooMuchToJudge)) throw err;
    deps.log.error(
      { err, org: job.org_name, environment_id: job.environment_id },
      "environment was not judged again",
    );
  }
}

function judgeAgain(deps: Deps, job: ReevaluationJob): Promise<void> {
  const org = { id: job.org_id, name: job.org_name };
  return recorded(deps, { org, actor: jobActor(job) }, async (tx, record) => {
    const [environment] = await lockAll(tx, org, [job.environment_id]);
    if (environment === undefined) return;
    const environmentIds = [environment.id];
    const judged = await reevaluate(deps, tx, org, { environmentIds, cause: job.cause ?? "policy" });
    if (judged.length > 0) record("environment", environment.name);
  });
}
