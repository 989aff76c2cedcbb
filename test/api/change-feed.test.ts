import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from "vitest";

import { connect } from "../../src/db/connect.ts";
import { sql } from "../../src/db/sql.ts";
import { transaction } from "../../src/db/transaction.ts";
import { streamPace } from "../../src/http/send-events.ts";
import { noticeSilence } from "../../src/modules/runtime/silence/watch-service.ts";
import { listenToChanges } from "../../src/modules/views/change-feed/feed-service.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody, fingerprintOf } from "../support/artifacts.ts";
import { createEnvironment } from "../support/environments.ts";
import { createPolicy, samplePolicy } from "../support/policies.ts";
import { putFlow, putTrail } from "../support/flows.ts";
import { reportServer } from "../support/snapshots.ts";
import { withDatabase } from "../support/databases.ts";
import { type HowToListen, type Listening, listenTo } from "../support/listening.ts";
import { listen, request } from "../support/sockets.ts";

let app: TestApp;
let port: number;
beforeAll(async () => {
  app = await startTestApp();
  port = await listen(app);
});
afterAll(() => app.close());

const open: Listening[] = [];
afterEach(() => {
  for (const one of open.splice(0)) one.stop();
});

async function hear(
  org: { name: string },
  key: string | undefined,
  how: HowToListen = {},
): Promise<Listening> {
  const listening = await listenTo(port, org, key, how);
  open.push(listening);
  return listening;
}

const namesOf = (listening: Listening): unknown[] =>
  listening.events
    .filter(({ event }) => event === "change")
    .map(({ data }) => [data.topic, data.name, data.index]);

async function addFlow(org: TestOrg, name: string): Promise<void> {
  expect((await putFlow(org.member, org.name, { name, visibility: "public", description: "" })).status).toBe(
    201,
  );
}

/** Lets time pass while servers watch. */
async function pass(seconds: number): Promise<void> {
  for (let left = seconds; left > 0; left -= 60) {
    app.clock.advance(Math.min(60, left));
    await noticeSilence(app.deps);
  }
}

describe("who listens", () => {
  it("is told that it begins, and how to come back", async () => {
    const org = await app.org();
    const listening = await hear(org, org.reader.key);
    expect(listening.status).toBe(200);
    expect(listening.headers).toMatchObject({
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-store",
      "x-accel-buffering": "no",
    });
    expect(listening.headers["content-encoding"]).toBeUndefined();
    expect(listening.events).toEqual([{ event: "ready", data: {}, id: expect.stringMatching(/^\d+-\d+$/) }]);
  });

  it("is told what pipelines and runtimes report, by the names of what shows it", async () => {
    const org = await app.org();
    const listening = await hear(org, org.reader.key);
    const fingerprint = fingerprintOf("told");
    await addFlow(org, "web-ci");
    await listening.hears("flow", "web-ci");
    await putTrail(org.member, `${org.name}/web-ci`, { name: "v1" });
    await listening.hears("trail", "web-ci/v1");
    await org.member.post(`/artifacts/${org.name}/web-ci`, artifactBody({ fingerprint, trail_name: "v2" }));
    await listening.hears("artifact", fingerprint);
    await listening.hears("trail", "web-ci/v2");
    await createEnvironment(org, "prod", { type: "server" });
    await createEnvironment(org, "all", { type: "logical", included_environments: ["prod"] });
    await listening.hears("environment", "prod");
    await reportServer(org, "prod", [{ name: "web", fingerprint }]);
    await listening.hears("environment", "prod", 1);
    const before = listening.events.length;
    await reportServer(org, "prod", [{ name: "web", fingerprint: fingerprintOf("other") }]);
    await listening.hears("environment", "prod", 2);
    expect(listening.events.slice(before).map(({ data }) => data.name)).toContain("all");
  });

  it("is told of an attestation by the trail and the artifact that it is on", async () => {
    const org = await app.org();
    const fingerprint = fingerprintOf("attested");
    await addFlow(org, "ci");
    await org.member.post(`/artifacts/${org.name}/ci`, artifactBody({ fingerprint, trail_name: "run" }));
    const listening = await hear(org, org.reader.key);
    await org.member.request("POST", `/attestations/${org.name}/ci/trail/run/generic`, {
      parts: {
        data_json: JSON.stringify({
          attestation_name: "notes",
          is_compliant: true,
          artifact_fingerprint: fingerprint,
        }),
      },
    });
    await listening.hears("artifact", fingerprint);
    expect((await listening.hears("trail", "ci/run")).event).toBe("change");
  });

  it("is told of rules, members and settings", async () => {
    const org = await app.org();
    const joins = await app.user();
    const listening = await hear(org, org.reader.key);
    await createPolicy(org, "safe", samplePolicy);
    await listening.hears("policy", "safe");
    await createEnvironment(org, "prod", { type: "server" });
    await org.member.post(`/environments/${org.name}/prod/policies`, { policy_names: ["safe"] });
    await listening.hears("environment", "prod");
    const fingerprint = fingerprintOf("allowed");
    const entry = { artifact_fingerprint: fingerprint, artifact_name: "web", description: "" };
    expect((await org.member.put(`/allowlists/${org.name}/prod`, entry)).status).toBeLessThan(300);
    await listening.hears("allow_list", `prod/${fingerprint}`);
    await org.admin.put(`/members/${org.name}/${joins.name}`, { role: "reader" });
    await listening.hears("member", joins.name);
  });

  it("is told of silence, which nobody writes", async () => {
    const org = await app.org();
    await createEnvironment(org, "quiet", { type: "server" });
    await reportServer(org, "quiet", []);
    await org.member.put(`/environments/${org.name}/quiet/silence`, { limit_seconds: 300 });
    const listening = await hear(org, org.reader.key);
    await pass(400);
    await expect
      .poll(() => namesOf(listening), { timeout: 20_000 })
      .toContainEqual(["environment", "quiet", null]);
  }, 30_000);

  it("hears nothing of other organizations, of keys, or of topics that it does not ask for", async () => {
    const [org, other] = [await app.org(), await app.org()];
    const listening = await hear(org, org.reader.key, { query: "?topic=flow&topic=space" });
    await addFlow(other, "theirs");
    await org.admin.post("/user/api-keys", { description: "mine" });
    await createPolicy(org, "safe", samplePolicy);
    await addFlow(org, "ours");
    await listening.hears("flow", "ours");
    expect(namesOf(listening)).toEqual([["flow", "ours", null]]);
  });

  it("is told once of much, and not by names of very much", async () => {
    const org = await app.org();
    await addFlow(org, "ci");
    const listening = await hear(org, org.reader.key, { query: "?topic=trail" });
    const rows = Array.from({ length: 60 }, (_, index) => `ci/t${index}`);
    await transaction(app.deps.db, async (tx) => {
      await tx.run(sql`
        with counter as (update org_counters set audit_seq = audit_seq + 60 where org_id = ${org.id} returning audit_seq)
        insert into audit_log (org_id, seq, occurred_at, actor_kind, actor_name, action, resource_type, resource, request_id)
        select ${org.id}, audit_seq - 60 + nth, now(), 'system', 'test', 'test', 'trail', name, 'test'
        from counter, unnest(${rows}::text[]) with ordinality as t (name, nth)`);
    });
    await listening.hears("trail", null);
    expect(namesOf(listening)).toEqual([["trail", null, null]]);
  });
});

describe("after a break", () => {
  it("comes what happened meanwhile, by header or parameter", async () => {
    const org = await app.org();
    const first = await hear(org, org.reader.key);
    await addFlow(org, "one");
    await first.hears("flow", "one");
    first.stop();
    const last = first.last();
    await addFlow(org, "two");
    for (const how of [{ headers: { "last-event-id": last } }, { query: `?last_event_id=${last}` }]) {
      const again = await hear(org, org.reader.key, how);
      expect(namesOf(again)).toEqual([["flow", "two", null]]);
      expect(again.events.map(({ event }) => event)).toEqual(["change", "ready"]);
    }
  });

  it("comes a reset when it is not known what happened", async () => {
    const org = await app.org();
    const head = await hear(org, org.reader.key);
    const seq = Number(head.last().split("-")[0]);
    for (const id of ["nonsense", `${seq + 5}-0`, "1-99999999999"]) {
      const again = await hear(org, org.reader.key, { headers: { "last-event-id": id } });
      expect([id, again.events.map(({ event }) => event)]).toEqual([id, ["reset", "ready"]]);
    }
    await app.deps.db.pool.query("update org_counters set audit_seq = audit_seq + 20000 where org_id = $1", [
      org.id,
    ]);
    await expect
      .poll(() => head.events.some(({ event }) => event === "reset"), { timeout: 8_000 })
      .toBe(true);
    const late = await hear(org, org.reader.key, { headers: { "last-event-id": `${seq}-0` } });
    expect(late.events.map(({ event }) => event)).toEqual(["reset", "ready"]);
  });

  it("of the database nothing is missed", async () => {
    const org = await app.org();
    const listening = await hear(org, org.reader.key);
    const { db } = app.deps;
    const all = db.all;
    db.all = async () => {
      throw new Error("the database is away");
    };
    await new Promise((resolve) => setTimeout(resolve, 600));
    db.all = all;
    await addFlow(org, "after");
    await listening.hears("flow", "after");
    expect(app.logged()).toContain("changes cannot be read");
  });
});

describe("a stream", () => {
  const pace = { ...streamPace };
  afterEach(() => void Object.assign(streamPace, pace));

  async function metric(name: string): Promise<number> {
    const answer = await app.server.inject({ url: "/metrics" });
    return Number(new RegExp(`^${name} (\\S+)$`, "m").exec(answer.body)?.[1]);
  }

  it("shows that it is alive, and how far it has come", async () => {
    const org = await app.org();
    streamPace.heartbeat = 50;
    const listening = await hear(org, org.reader.key);
    await expect.poll(() => listening.events.some(({ event }) => event === "heartbeat")).toBe(true);
    const beat = listening.events.find(({ event }) => event === "heartbeat");
    expect(beat?.id).toBe(listening.events[0]!.id);
  });

  it("ends when its caller may not listen any more, or has another role", async () => {
    const org = await app.org();
    const [leaves, changes, stays] = [await app.user(), await app.user(), await app.user()];
    for (const user of [leaves, changes, stays])
      await org.admin.put(`/members/${org.name}/${user.name}`, { role: "reader" });
    streamPace.access = 50;
    const [first, second, third] = [
      await hear(org, leaves.key),
      await hear(org, changes.key),
      await hear(org, stays.key),
    ];
    await org.admin.delete(`/members/${org.name}/${leaves.name}`);
    await first.ended;
    expect((await hear(org, leaves.key)).status).toBe(403);
    await org.admin.put(`/members/${org.name}/${changes.name}`, { role: "admin" });
    await second.ended;
    await addFlow(org, "later");
    await third.hears("flow", "later");
  });

  it("ends with its key", async () => {
    const org = await app.org({ public: false });
    const user = await app.user();
    await org.admin.put(`/members/${org.name}/${user.name}`, { role: "reader" });
    streamPace.access = 50;
    const listening = await hear(org, user.key);
    const keys = await user.client.get("/user/api-keys");
    await user.client.delete(`/user/api-keys/${keys.json[0].id}`);
    await listening.ended;
    expect((await hear(org, user.key)).status).toBe(401);
  });

  it("is counted, and is no request that takes long or a long answer", async () => {
    const org = await app.org();
    await expect.poll(() => metric("waybill_http_event_streams")).toBe(0);
    const listening = await hear(org, org.reader.key);
    expect(await metric("waybill_http_event_streams")).toBe(1);
    expect(await metric("waybill_http_long_answers_active")).toBe(0);
    expect(await metric("waybill_http_events_total")).toBeGreaterThan(0);
    listening.stop();
    await expect.poll(() => metric("waybill_http_event_streams")).toBe(0);
    const { body } = await app.server.inject({ url: "/metrics" });
    expect(body).not.toMatch(
      /request_duration_seconds_count\{operation="stream_changes",method="GET",status="200"/,
    );
  });

  it("is cut off when its client does not read", async () => {
    const org = await app.org();
    const socket = await request(port, `/changes/${org.name}`, org);
    await expect.poll(() => metric("waybill_http_event_streams")).toBe(1);
    const name = "n".repeat(400);
    // Until more is told than the kernel takes on behalf of a client: on a busy machine what many rounds tell is told at once.
    const deadline = Date.now() + 90_000;
    while ((await metric("waybill_http_event_streams")) === 1 && Date.now() < deadline)
      await app.deps.db.pool.query(
        `with counter as (update org_counters set audit_seq = audit_seq + 800 where org_id = $1 returning audit_seq)
        insert into audit_log (org_id, seq, occurred_at, actor_kind, actor_name, action, resource_type, resource, request_id)
        select $1, audit_seq - 800 + nth, now(), 'system', 'test', 'test',
          (array['environment', 'flow', 'trail', 'policy', 'control', 'repo', 'action', 'integration', 'space', 'member',
            'service_account', 'organization', 'custom_attestation_type', 'notification_delivery', 'flow', 'trail'])[1 + nth / 50],
          $2 || nth, 'test'
        from counter, generate_series(1, 799) as nth`,
        [org.id, name.repeat(4)],
      );
    expect(await metric("waybill_http_event_streams")).toBe(0);
    expect(await metric("waybill_http_event_streams_cut_off_total")).toBe(1);
    socket.destroy();
  }, 120_000);

  it("is forgotten when its client went away before it began", async () => {
    const org = await app.org();
    await expect.poll(() => metric("waybill_http_event_streams")).toBe(0);
    const { db } = app.deps;
    const all = db.all;
    let goOn: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (goOn = resolve));
    db.all = async (query) => {
      if (query.name === "audit-heads") await held;
      return all(query);
    };
    const socket = await request(port, `/changes/${org.name}`, org);
    await expect.poll(() => metric("waybill_http_event_streams")).toBe(1);
    socket.destroy();
    await expect.poll(() => metric("waybill_http_event_streams")).toBe(0);
    goOn();
    db.all = all;
    const listening = await hear(org, org.reader.key);
    await addFlow(org, "next");
    await listening.hears("flow", "next");
    expect(await metric("waybill_http_event_streams")).toBe(1);
  });

  it("that begins while logs are read is not told of a reset", async () => {
    const org = await app.org();
    for (let round = 0; round < 15; round += 1) {
      const listening = await hear(org, org.reader.key, { query: "?topic=space" });
      const other = await app.org();
      const second = await hear(other, other.reader.key, { query: "?topic=space" });
      await addFlow(other, `f${round}`);
      second.stop();
      listening.stop();
      for (const { events } of [listening, second])
        expect(events.map(({ event }) => event)).not.toContain("reset");
    }
  });

  it("tells what another server wrote", async () => {
    const org = await app.org();
    const { rows } = await app.deps.db.pool.query<{ name: string }>("select current_database() as name");
    const elsewhere = connect({ connection: withDatabase(inject("postgres"), rows[0]!.name), max: 4 });
    const told: string[] = [];
    const end = await listenToChanges({ ...app.deps, db: elsewhere }, org.id, {
      changed: (changes) => told.push(...changes.map(({ topic, name }) => `${topic} ${name}`)),
      reset: () => told.push("reset"),
    });
    await addFlow(org, "elsewhere");
    await expect.poll(() => told, { timeout: 8_000 }).toEqual(["flow elsewhere"]);
    end();
    await new Promise((resolve) => setTimeout(resolve, 600));
    await elsewhere.close();
  });

  it("ends when its server stops", async () => {
    const stopping = await startTestApp();
    const org = await stopping.org();
    const origin = await stopping.server.listen({ port: 0, host: "127.0.0.1" });
    const answer = await fetch(`${origin}/api/v2/changes/${org.name}`, {
      headers: { authorization: `Bearer ${org.reader.key}` },
    });
    const begun = performance.now();
    await stopping.close();
    expect(await answer.text()).toContain("event: ready");
    expect(performance.now() - begun).toBeLessThan(10_000);
  }, 30_000);
});

describe("who may listen", () => {
  const limits = (): Promise<Listening> => hear(open0, undefined);
  let open0: TestOrg;

  it("is anybody in a public organization, but for what only members read", async () => {
    open0 = await app.org({ public: true });
    const joins = await app.user();
    const [stranger, reader] = [await limits(), await hear(open0, open0.reader.key)];
    await open0.admin.put(`/members/${open0.name}/${joins.name}`, { role: "reader" });
    await reader.hears("member", joins.name);
    await addFlow(open0, "ci");
    await stranger.hears("flow", "ci");
    expect(namesOf(stranger)).toEqual([["flow", "ci", null]]);
  });

  it("is nobody else", async () => {
    const org = await app.org();
    expect((await hear(org, undefined)).status).toBe(401);
    expect((await hear(org, (await app.user()).key)).status).toBe(403);
  });

  it("is told of a mistake in the question", async () => {
    const org = await app.org();
    const answer = await org.reader.get(`/changes/${org.name}?topic=gossip`);
    expect(answer.status).toBe(400);
    expect(Object.keys(answer.json.errors)).toEqual(["query.topic[0]"]);
  });

  it("listens a limited number of times", async () => {
    const org = await app.org();
    for (let nth = 0; nth < 12; nth += 1) expect((await hear(org, org.reader.key)).status).toBe(200);
    const answer = await org.reader.get(`/changes/${org.name}`);
    expect([answer.status, answer.json.message]).toEqual([
      429,
      "Too many streams are open already, close some of them",
    ]);
    for (const one of open.splice(0)) one.stop();
    await expect.poll(async () => (await org.reader.get(`/changes/${org.name}`)).status).toBe(200);
  });

  it("answers HEAD without listening", async () => {
    const org = await app.org();
    const answer = await app.server.inject({
      method: "HEAD",
      url: `/api/v2/changes/${org.name}`,
      headers: { authorization: `Bearer ${org.reader.key}` },
    });
    expect([answer.statusCode, answer.headers["content-type"]]).toEqual([
      200,
      "text/event-stream; charset=utf-8",
    ]);
  });
});
