import { setTimeout as later } from "node:timers/promises";

import pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from "vitest";

import type { TestOrg } from "../support/app.ts";
import { urlOf } from "../support/databases.ts";
import { runPendingJobs } from "../support/jobs.ts";
import { deliveriesOf, happen, inProd } from "../support/notifications.ts";
import { type Notified, startNotified } from "../support/notified.ts";

// Anywhere else there is one commit, and what waits for another is tested beside the code.
describe.runIf(inject("cluster"))("what queues a job on a distributed database", () => {
  let notified: Notified;
  beforeAll(async () => {
    notified = await startNotified();
  });
  afterAll(() => notified.stop());
  beforeEach(() => notified.clear());

  /** Has the organization's action told of something. */
  async function occur(org: TestOrg): Promise<void> {
    const { app } = notified;
    await happen(
      app,
      org,
      await inProd(app, org, "ON_COMPLIANT_ENV", { snapshot: { index: 1, compliant: true } }),
    );
  }

  /** Transactions that were committed in two phases, as the coordinator notes them. */
  async function inTwoPhases(): Promise<number> {
    return (await notified.rows("select from pg_dist_transaction")).length;
  }

  /** Connects to the node that has the organization. */
  async function nodeOf(org: TestOrg): Promise<pg.Client> {
    const [node] = await notified.rows<{ nodename: string; nodeport: number }>(
      `select nodename, nodeport from pg_dist_shard_placement
       where shardid = get_shard_id_for_distribution_column('audit_log', $1::uuid)`,
      [org.id],
    );
    const url = new URL(urlOf(inject("postgres"), notified.app.database));
    url.hostname = node!.nodename;
    url.port = String(node!.nodeport);
    const client = new pg.Client(url.href);
    await client.connect();
    return client;
  }

  /** Takes the organization's delivery away from its node, and puts it back in a transaction that is prepared there. */
  async function putOff(node: pg.Client, org: TestOrg, gid: string): Promise<void> {
    const [shard] = await notified.rows<{ name: string }>(
      `select shard_name(t, get_shard_id_for_distribution_column(t, $1::uuid)) as name
       from cast('notification_deliveries' as regclass) as t`,
      [org.id],
    );
    await node.query("set citus.enable_manual_changes_to_shards = on");
    const { rows } = await node.query(
      `delete from ${shard!.name} where org_id = $1 returning row_to_json(${shard!.name}) as row`,
      [org.id],
    );
    await node.query("begin");
    await node.query(
      `insert into ${shard!.name} select * from json_populate_record(null::${shard!.name}, $1)`,
      [JSON.stringify(rows[0].row)],
    );
    await node.query(`prepare transaction '${gid}'`);
  }

  it("is committed on both nodes or on neither, as is a key with the entry about it", async () => {
    const org = await notified.watched();
    const before = await inTwoPhases();
    await occur(org);
    expect(await inTwoPhases()).toBe(before + 1);
    const { client } = await notified.app.user();
    const between = await inTwoPhases();
    const made = await client.post("/user/api-keys", { description: "deploy", expires_at: null });
    expect([made.status, await inTwoPhases()]).toEqual([201, between + 1]);
  });

  it("is waited for by the job until the node of the organization has committed it", async () => {
    const org = await notified.watched();
    await occur(org);
    const node = await nodeOf(org);
    const gid = `citus_0_0_${Date.now()}_0`;
    try {
      await putOff(node, org, gid);
      // Committed by the coordinator, and prepared on the node: as it is between the two commits.
      await notified.rows("insert into pg_dist_transaction (groupid, gid) values (1, $1)", [gid]);
      expect(await deliveriesOf(org)).toEqual([]);
      const work = runPendingJobs(notified.app);
      expect(await Promise.race([work, later(300, "waits")])).toBe("waits");
      await node.query(`commit prepared '${gid}'`);
      await work;
      expect(notified.receiver.received).toHaveLength(1);
      expect(await deliveriesOf(org)).toMatchObject([{ status: "delivered", attempts: 1 }]);
    } finally {
      await node.end();
    }
  });
});
