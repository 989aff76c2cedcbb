import type { Task, TaskList } from "graphile-worker";

function organizationOf(payload: unknown): string | undefined {
  if (typeof payload !== "object" || payload === null || !("org_id" in payload)) return undefined;
  return String(payload.org_id);
}

type Wait = (orgId: string) => Promise<void>;

function after(wait: Wait, task: Task): Task {
  return async (payload, helpers) => {
    const organization = organizationOf(payload);
    if (organization !== undefined) await wait(organization);
    return task(payload, helpers);
  };
}

/**
 * Gives these tasks as a distributed database needs them. A job is there as soon as the coordinator has committed it, which is a moment before
 * what it is about can be seen on the node of its organization: it begins when it can. Where that takes longer the job fails, to
 * be tried again.
 * @param wait resolves when whatever is committed on the coordinator can be seen on the node of an organization.
 */
export function afterCommits(wait: Wait, tasks: TaskList): TaskList {
  return Object.fromEntries(
    Object.entries(tasks).flatMap(([name, task]) =>
      task === undefined ? [] : [[name, after(wait, task as Task)]],
    ),
  );
}
