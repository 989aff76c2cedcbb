import { text } from "../../src/db/row.ts";
import { query, sql } from "../../src/db/sql.ts";

import type { TestApp, TestOrg } from "./app.ts";
import type { Answer } from "./client.ts";

export const webhook = { type: "WEBHOOK", webhook: "https://hooks.example.com/t0ken" };

/** A body that makes an environment action. */
export function envAction(change: Record<string, unknown> = {}) {
  return {
    name: "alert/prod",
    type: "env",
    environments: ["prod"],
    triggers: ["ON_NON_COMPLIANT_ENV", "ON_COMPLIANT_ENV"],
    targets: [webhook],
    ...change,
  };
}

/** A body that makes a flow action. */
export function flowAction(change: Record<string, unknown> = {}) {
  return {
    name: "flows",
    type: "flow",
    flows: ["web"],
    triggers: ["ON_STARTED_TRAIL"],
    targets: [webhook],
    ...change,
  };
}

export function putEnv(org: TestOrg, change: Record<string, unknown> = {}): Promise<Answer> {
  return org.member.put(`/actions/${org.name}/environments`, envAction(change));
}

/** What actions watch, as its paths begin. */
export type Watched = "environments" | "flows";

/**
 * Environments and flows that actions can watch: made straight in the database, so that the audit log begins with the
 * test, and changed as clients do it.
 */
export class ActionFixtures {
  readonly #app: TestApp;

  constructor(app: TestApp) {
    this.#app = app;
  }

  /** An organization with environments `prod` and `stage` and a flow `web`. */
  async org(options: { public?: boolean } = {}): Promise<{ org: TestOrg }> {
    const org = await this.#app.org(options);
    for (const name of ["prod", "stage"]) await this.environment(org, name);
    await this.flow(org, "web");
    return { org };
  }

  /** The organization's audit log, oldest first. */
  async audited(org: TestOrg) {
    return this.#app.deps.db.all(query({ action: text, resource_type: text, resource: text })`
      select action, resource_type, resource from audit_log where org_id = ${org.id} order by seq`);
  }

  async environment(org: TestOrg, name: string): Promise<void> {
    const id = this.#app.deps.ids.next();
    await this.#app.deps.db
      .run(sql`insert into environments (org_id, id, name, type, created_at, last_modified_at)
      values (${org.id}, ${id}, ${name}, 'K8S', now(), now())`);
  }

  async flow(org: TestOrg, name: string): Promise<void> {
    const id = this.#app.deps.ids.next();
    await this.#app.deps.db
      .run(sql`insert into flows (org_id, id, name, template, template_id, created_at, created_by_name)
      values (${org.id}, ${id}, ${name}, 'version: 1', ${id}, now(), 'test')`);
  }

  async rename(kind: Watched, org: TestOrg, name: string, new_name: string): Promise<void> {
    const { status } = await org.member.put(`/${kind}/${org.name}/${name}/rename`, { new_name });
    if (status !== 200) throw new Error(`${name} was not renamed: ${status}`);
  }

  async archive(kind: Watched, org: TestOrg, name: string): Promise<void> {
    const { status } = await org.member.put(`/${kind}/${org.name}/${name}/archive`);
    if (status !== 200) throw new Error(`${name} was not archived: ${status}`);
  }
}
