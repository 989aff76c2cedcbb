import { setImmediate as turn } from "node:timers/promises";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startTestApp, type TestApp } from "../support/app.ts";
import type { Answer } from "../support/client.ts";
import { untilWaiting } from "../support/locks.ts";
import { trySignIn } from "../support/sessions.ts";
import { arrange, ofAccount, type Operation, pairs, removals, type Round } from "../support/taken-away.ts";
import { amount } from "../support/thorough.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

/** Looks for what refers to something that is gone, or works though its owner does not. */
async function orphans(): Promise<string[]> {
  const { rows } = await app.deps.db.pool.query<{ what: string }>(`
    select 'key of an account that was removed: ' || s.name as what
    from api_keys k join service_accounts s on s.org_id = k.org_id and s.id = k.service_account_id
    where s.archived_at is not null and k.revoked_at is null
    union all
    select 'session of a user who is disabled: ' || u.name
    from sessions s join users u on u.id = s.user_id where u.disabled_at is not null
    union all
    select 'member that is archived: ' || e.name
    from environment_members m join environments e on e.org_id = m.org_id and e.id = m.member_id
    where e.archived
    union all
    select 'action of an environment that is archived: ' || e.name
    from action_environments a join environments e on e.org_id = a.org_id and e.id = a.environment_id where e.archived
    union all
    select 'action of a flow that is archived: ' || f.name
    from action_flows a join flows f on f.org_id = a.org_id and f.id = a.flow_id where f.archived_at is not null
    union all
    select 'action that watches nothing: ' || a.number from actions a
    where not exists (select from action_environments e where e.org_id = a.org_id and e.action_number = a.number)
      and not exists (select from action_flows f where f.org_id = a.org_id and f.action_number = a.number)
    union all
    select 'former name of an archived flow: ' || n.name
    from flow_former_names n join flows f on f.org_id = n.org_id and f.id = n.flow_id where f.archived_at is not null
    union all
    select 'former name that is in use: ' || n.name
    from environment_former_names n join environments e on e.org_id = n.org_id and e.name = n.name
    union all
    select 'trail without a flow: ' || t.name
    from trails t left join flows f on f.org_id = t.org_id and f.id = t.flow_id where f.id is null
    union all
    select 'attestation without a trail: ' || a.id
    from attestations a left join trails t on t.org_id = a.org_id and t.id = a.trail_id where t.id is null
    union all
    select 'organization without an admin: ' || o.name from organizations o
    where not exists (select from memberships m where m.org_id = o.id and m.role = 'admin')`);
  return rows.map(({ what }) => what);
}

/** How often each is done together with what takes away what it refers to. */
const repeated = amount(1, 30);

/** Does both at once, the one mostly before the other, and which is which differs from round to round. */
async function together(round: Round, remove: Operation, write: Operation): Promise<Answer[]> {
  const removing = async () => {
    for (let turns = 0; turns < (round.nth % 3) * 4; turns += 1) await turn();
    return remove(round);
  };
  const both = round.nth % 2 === 0 ? [removing(), write(round)] : [write(round), removing()];
  const answers = await Promise.all([...both, write(round)]);
  return answers.flatMap((answer) => answer ?? []);
}

describe(
  "what is written while what it refers to is taken away",
  { timeout: amount(60_000, 300_000) },
  () => {
    it.each(pairs)("is written whole or refused: %s", async (removal, writes) => {
      const org = await app.org();
      const faults: string[] = [];
      for (const [write, operation] of Object.entries(writes))
        for (let nth = 0; nth < repeated; nth += 1) {
          const answers = await together(await arrange(app, org), removals[removal]!, operation);
          faults.push(
            ...answers.filter(({ status }) => status >= 500).map(({ text }) => `${write}: ${text}`),
            ...(await orphans()).map((what) => `${write}: ${what}`),
          );
        }
      expect(faults).toEqual([]);
    });
  },
);

describe("what waits for a removal", () => {
  /** Begins something after another transaction made its changes, which ends as soon as it is waited for. */
  async function after<Result>(
    work: () => Promise<Result>,
    changes: (run: (text: string, values: unknown[]) => Promise<unknown>) => Promise<unknown>,
  ): Promise<Result> {
    const other = await app.deps.db.pool.connect();
    try {
      await other.query("begin");
      await changes((statement, values) => other.query(statement, values));
      const result = work();
      await untilWaiting(app, result);
      await other.query("commit");
      return await result;
    } finally {
      await other.query("rollback");
      other.release();
    }
  }

  it("gives an account that is being removed no key, by a command either", async () => {
    const round = await arrange(app, await app.org());
    const made = after(
      () => ofAccount["a key is made by a command"]!(round),
      (run) =>
        run("update service_accounts set archived_at = now() where org_id = $1 and name = $2", [
          round.org.id,
          round.account,
        ]),
    );
    await made;
    const { rows } = await app.deps.db.pool.query("select description from api_keys where org_id = $1", [
      round.org.id,
    ]);
    expect(rows).toEqual([{ description: "x" }]);
  });

  it("begins no session for a user who is being disabled, which would work when they are enabled again", async () => {
    const { id, key } = await app.user();
    const { status } = await after(
      () => trySignIn(app, { api_key: key }),
      (run) => run("update users set disabled_at = now() where id = $1", [id]),
    );
    expect(status).toBe(401);
    expect((await app.deps.db.pool.query("select from sessions where user_id = $1", [id])).rowCount).toBe(0);
  });

  it("archives an environment when asked again, if its name in the archive was taken", async () => {
    const round = await arrange(app, await app.org());
    const { org, env } = round;
    const taken = `${env}-archived-at-${Math.floor(app.clock.now())}`;
    const archive = () => removals["an environment is archived"]!(round);
    const first = await after(archive, (run) =>
      run(
        `insert into environments (org_id, id, name, type, created_at, last_modified_at)
         values ($1, $2, $3, 'server', now(), now())`,
        [org.id, app.deps.ids.next(), taken],
      ),
    );
    expect(first?.status).toBe(409);
    expect((await archive())?.status).toBe(200);
  });
});
