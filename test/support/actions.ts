import { sql } from "kysely";

import { transaction } from "../../src/db/transaction.ts";
import { archivedName } from "../../src/domain/names.ts";
import { forgetEnvironment, forgetFlow } from "../../src/modules/actions/forget.ts";
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

/** Makes environments and flows that actions can watch, straight in the database. */
export class ActionFixtures {
  readonly #app: TestApp;

  constructor(app: TestApp) {
    this.#app = app;
  }

  /** An organization with environments `prod` and `stage` and a flow `web`. */
  async org(options: { public?: boolean } = {}) {
    const org = await this.#app.org(options);
    const prod = await this.environment(org, "prod");
    const stage = await this.environment(org, "stage");
    const web = await this.flow(org, "web");
    return { org, prod, stage, web };
  }

  /** The organization's audit log, oldest first. */
  async audited(org: TestOrg) {
    const { rows } = await sql<{ action: string; resource_type: string; resource: string }>`
      select action, resource_type, resource from audit_log where org_id = ${org.id} order by seq
    `.execute(this.#app.deps.db.query);
    return rows;
  }

  async environment(org: TestOrg, name: string): Promise<string> {
    const id = this.#app.deps.ids.next();
    await sql`insert into environments (org_id, id, name, type, created_at, last_modified_at)
      values (${org.id}, ${id}, ${name}, 'K8S', now(), now())`.execute(this.#app.deps.db.query);
    return id;
  }

  async flow(org: TestOrg, name: string): Promise<string> {
    const id = this.#app.deps.ids.next();
    await sql`insert into flows (org_id, id, name, template, template_id, created_at, created_by_name)
      values (${org.id}, ${id}, ${name}, 'version: 1', ${id}, now(), 'test')`.execute(
      this.#app.deps.db.query,
    );
    return id;
  }

  async rename(
    table: "environments" | "flows",
    org: TestOrg,
    id: string,
    names: [string, string],
  ): Promise<void> {
    const [before, after] = names;
    const former = sql.table(table === "flows" ? "flow_former_names" : "environment_former_names");
    await transaction(this.#app.deps.db.query, async (tx) => {
      await sql`insert into ${former} values (${org.id}, ${before}, ${id})`.execute(tx);
      await sql`update ${sql.table(table)} set name = ${after} where org_id = ${org.id} and id = ${id}`.execute(
        tx,
      );
    });
  }

  /** As the archive operations do it: the record first, then what watched it. */
  async archive(table: "environments" | "flows", org: TestOrg, id: string, name: string): Promise<void> {
    const forget = table === "flows" ? forgetFlow : forgetEnvironment;
    const at = this.#app.clock.now();
    await transaction(this.#app.deps.db.query, async (tx) => {
      await sql`update ${sql.table(table)} set name = ${archivedName(name, at)}, original_name = name,
        archived_at = now() where org_id = ${org.id} and id = ${id}`.execute(tx);
      await forget(tx, org.id, id);
    });
  }
}
