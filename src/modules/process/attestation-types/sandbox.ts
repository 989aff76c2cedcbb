import { AppError } from "../../../domain/errors.ts";
import {
  type Job,
  type JobResult,
  type Limit,
  type Sandbox,
  SandboxBusy,
  SandboxUnavailable,
} from "../../../lib/sandbox/sandbox.ts";

/** Says why an evaluation was ended, as the end of a sentence about it. Time is that of the processor. */
export function describeLimit(limit: Limit, timeLimit: number): string {
  switch (limit) {
    case "time":
      return `took longer than ${timeLimit / 1000} seconds`;
    case "memory":
      return "needed too much memory";
    case "output":
      return "wrote too much";
    case "crash":
      return "nested too deep or failed in another way";
  }
}

/**
 * Runs a job for an organization.
 * @throws AppError unavailable when too many jobs of the organization wait already, or the machine is too busy to tell
 * how this one ends; clients try again then.
 */
export async function runJob(sandbox: Sandbox, orgId: string, job: Job): Promise<JobResult> {
  try {
    return await sandbox.run(orgId, job);
  } catch (error) {
    if (error instanceof SandboxBusy)
      throw new AppError("unavailable", "Too many evaluations are waiting, try again", { cause: error });
    if (error instanceof SandboxUnavailable)
      throw new AppError("unavailable", "The server is too busy to evaluate this, try again", {
        cause: error,
      });
    throw error;
  }
}
