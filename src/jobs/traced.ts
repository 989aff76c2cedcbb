import type { JobHelpers, Task, TaskList } from "graphile-worker";

import { StatementTrace } from "../db/statement-trace.ts";
import { withFields } from "../lib/log.ts";
import type { Tracing } from "../lib/tracing/tracing.ts";
import type { Deps } from "../modules/kernel/deps.ts";
import { tracedDeps } from "../modules/kernel/traced-deps.ts";

type Job = JobHelpers["job"];

/** Traces of the jobs that are under way, and of those that have just failed. */
const traceIds = new WeakMap<Job, string>();

/** Names the trace of a job; undefined where there is none. */
export function traceIdOf(job: Job): string | undefined {
  return traceIds.get(job);
}

/** What queued the job, where that was recorded. */
function originOf(payload: unknown): string[] {
  const { traceparent } = Object(payload) as { traceparent?: unknown };
  return typeof traceparent === "string" ? [traceparent] : [];
}

function traced(deps: Deps, tracing: Tracing, name: string, tasksOf: (deps: Deps) => TaskList): Task {
  return async (payload, helpers) => {
    const { job } = helpers;
    const span = tracing.begin(name, {
      kind: "consumer",
      // A link and no parent: it may run a day later, and again and again.
      links: originOf(payload),
      attributes: {
        "messaging.system": "graphile_worker",
        "messaging.operation.type": "process",
        "messaging.destination.name": name,
        "messaging.message.id": job.id,
        "waybill.job.attempt": job.attempts,
      },
    });
    traceIds.set(job, span.traceId);
    const own = tracedDeps(deps, new StatementTrace(span));
    const log = withFields(deps.log, { job: job.id, task: name, trace_id: span.traceId });
    try {
      return await tasksOf({ ...own, log })[name]?.(payload, helpers);
    } catch (error) {
      span.fail(error instanceof Error ? error.name : "_OTHER");
      throw error;
    } finally {
      span.end();
    }
  };
}

/** Makes tasks that are each a trace of their own, where there are traces. @param tasksOf makes them of what they work with. */
export function tracedTasks(deps: Deps, tasksOf: (deps: Deps) => TaskList): TaskList {
  const { tracing } = deps;
  const tasks = tasksOf(deps);
  if (tracing === undefined) return tasks;
  return Object.fromEntries(Object.keys(tasks).map((name) => [name, traced(deps, tracing, name, tasksOf)]));
}
