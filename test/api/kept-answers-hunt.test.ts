import { randomInt } from "node:crypto";

import pg from "pg";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";

import { noticeSilence } from "../../src/modules/runtime/silence/watch-service.ts";
import { envAction } from "../support/actions.ts";
import { startTestApp, type TestApp, type TestOrg, uniqueName } from "../support/app.ts";
import { artifactBody } from "../support/artifacts.ts";
import { attest } from "../support/attestations.ts";
import type { Answer, Client } from "../support/client.ts";
import { withDatabase } from "../support/databases.ts";
import { createEnvironment } from "../support/environments.ts";
import { runPendingJobs } from "../support/jobs.ts";
import { putPolicy, samplePolicy } from "../support/policies.ts";
import { reportServer } from "../support/snapshots.ts";

/** Two servers that keep answers, and one that keeps none, on one database. */
let first: TestApp;
let second: TestApp;
let without: TestApp;
let org: TestOrg;
/** Another program that writes to the database, slowly. */
let writer: pg.Client;

beforeAll(async () => {
  first = await startTestApp();
  second = await startTestApp({}, { beside: first });
  without = await startTestApp({ WAYBILL_KEPT_ANSWER_BYTES: "0" }, { beside: first });
  first.clock.freeze();
  org = await first.org();
  writer = new pg.Client(withDatabase(inject("postgres"), first.database));
  await writer.connect();
  for (const name of ["prod", "quiet"]) await createEnvironment(org, name, { type: "server" });
  await org.admin.put(`/environments/${org.name}`, { name: "all", type: "logical", description: "" });
  await org.admin.put(`/flows/${org.name}`, { name: "web", description: "" });
  await org.admin.put(`/actions/${org.name}/environments`, envAction());
  await reportServer(org, "prod", ["web"]);
});
afterAll(async () => {
  await writer.end();
  for (const app of [without, second, first]) await app.close();
});

function oneOf<T>(items: readonly T[]): T {
  return items[randomInt(items.length)]!;
}

/** What people, pipelines and jobs write, through one server. */
const writes: Record<string, (app: TestApp, admin: Client) => Promise<unknown>> = {
  describe: (_app, admin) =>
    admin.patch(`/environments/${org.name}/prod`, { description: uniqueName("text") }),
  rename: async (_app, admin) => {
    const name = uniqueName("renamed");
    await admin.put(`/environments/${org.name}/quiet/rename`, { new_name: name });
    return admin.put(`/environments/${org.name}/${name}/rename`, { new_name: "quiet" });
  },
  archive: async (_app, admin) => {
    const archived = await admin.put(`/environments/${org.name}/quiet/archive`);
    return archived.status === 200 ? archived : admin.put(`/environments/${org.name}/quiet/unarchive`);
  },
  unarchive: (_app, admin) => admin.put(`/environments/${org.name}/quiet/unarchive`),
  join: (_app, admin) => admin.put(`/environments/${org.name}/all/join`, { physical_env_name: "prod" }),
  space: (_app, admin) => admin.post(`/spaces/${org.name}`, { name: uniqueName("space") }),
  tag: (_app, admin) =>
    admin.patch(`/tags/${org.name}/environment/prod`, { set_tags: { tier: uniqueName("t") } }),
  snapshot: (_app, admin) =>
    reportServer({ ...org, snapshotter: admin, member: admin, admin }, "prod", [uniqueName("image")]),
  attest: (_app, admin) =>
    attest(admin, { org: org.name, flow: "web", trail: `t${randomInt(5)}` }, "generic", {
      attestation_name: "unit",
      is_compliant: randomInt(2) === 0,
    }),
  artifact: (_app, admin) =>
    admin.post(`/artifacts/${org.name}/web`, artifactBody({ trail_name: `t${randomInt(5)}` })),
  flow: (_app, admin) => admin.put(`/flows/${org.name}`, { name: uniqueName("flow"), description: "" }),
  policy: async (_app, admin) => {
    await putPolicy(admin, org.name, { name: "base" }, `${samplePolicy}\n# ${uniqueName("version")}`);
    return admin.post(`/environments/${org.name}/prod/policies`, { policy_names: ["base"] });
  },
  allow: (_app, admin) =>
    admin.put(`/allowlists/${org.name}/prod`, {
      artifact_name: "cache",
      artifact_fingerprint: randomInt(2 ** 40)
        .toString(16)
        .padStart(64, "0"),
      description: "known",
    }),
  organization: (_app, admin) =>
    admin.patch(`/organizations/${org.name}`, {
      description: uniqueName("text"),
      public: randomInt(2) === 0,
    }),
  silence: async (app) => {
    first.clock.advance(3600);
    await noticeSilence(app.deps);
  },
  jobs: (app) => runPendingJobs(app),
};

const reads = (): string[] => [
  `/environments/${org.name}?per_page=5`,
  `/environments/${org.name}`,
  `/environments/${org.name}/prod?include=summary`,
  `/environments/${org.name}/quiet`,
  `/environments/${org.name}/quiet/silence`,
  `/snapshots/${org.name}/prod/-1`,
  `/snapshots/${org.name}/prod?per_page=5`,
  `/flows/${org.name}?per_page=5`,
  `/flows/${org.name}?per_page=5&sort=latest_activity&sort_direction=desc`,
  `/trails/${org.name}/web`,
  `/builds/${org.name}?per_page=5`,
  `/spaces/${org.name}`,
  `/policies/${org.name}`,
  `/overview/${org.name}`,
  `/allowlists/${org.name}/prod`,
  `/organizations/${org.name}`,
  `/tags/${org.name}/environment`,
];

type Seen = Pick<Answer, "status" | "text">;

async function read(client: Client, path: string): Promise<Seen> {
  const { status, text } = await client.get(path);
  return { status, text };
}

/** Reads through both servers, more than once at the same time, and requires what the one without memory says. */
async function expectFresh(after: string): Promise<void> {
  const asker = oneOf([org.reader, org.member, first.anonymous]);
  const paths = Array.from({ length: 6 }, () => oneOf(reads()));
  const seen = await Promise.all(
    paths.flatMap((path) =>
      [first, second, oneOf([first, second])].map(async (app) => ({
        path,
        ...(await read(asker.key === undefined ? app.anonymous : app.as(asker.key), path)),
      })),
    ),
  );
  for (const { path, status, text } of seen) {
    const expected = await read(asker.key === undefined ? without.anonymous : without.as(asker.key), path);
    expect({ after, path, status, text }).toEqual({ after, path, ...expected });
  }
}

/** A transaction of the other program, which may stay open for some rounds. */
class SlowWrite {
  isOpen = false;

  async step(): Promise<string> {
    if (!this.isOpen) {
      await writer.query("begin");
      await writer.query("savepoint inner_one");
      await writer.query("update organizations set display_name = $1 where id = $2", [
        uniqueName("shown"),
        org.id,
      ]);
      if (randomInt(3) === 0) await writer.query("rollback to inner_one");
      this.isOpen = true;
      return "a transaction that was begun";
    }
    const end = randomInt(4) === 0 ? "rollback" : "commit";
    await writer.query(end);
    this.isOpen = false;
    return `the ${end} of a transaction`;
  }
}

describe("answers that are kept", () => {
  it("are never older than what was written before they were asked for, whoever wrote it", async () => {
    const slow = new SlowWrite();
    const rounds = Number(process.env["WAYBILL_HUNT_ROUNDS"] ?? 120);
    for (let round = 0; round < rounds; round += 1) {
      const roll = randomInt(10);
      // What a transaction that is open holds, others would wait for.
      const names = Object.keys(writes).filter((name) => !(slow.isOpen && name === "organization"));
      const name = oneOf(names);
      const app = oneOf([first, second]);
      if (roll < 3) await expectFresh(await slow.step());
      else if (roll < 4) await expectFresh("nothing");
      else {
        await writes[name]!(app, app.as(org.admin.key!));
        await expectFresh(name);
      }
    }
    if (slow.isOpen) await writer.query("rollback");
  }, 120_000);

  it("are given again: what makes them is asked once", async () => {
    const path = `/environments/${org.name}?per_page=7`;
    const kept = async (): Promise<number> => {
      const metric = await first.deps.metrics.registry.getSingleMetricAsString(
        "waybill_http_kept_answer_bytes",
      );
      return Number(/^waybill_http_kept_answer_bytes (\d+)/m.exec(metric)?.[1]);
    };
    await read(org.reader, path);
    const before = await kept();
    expect(before).toBeGreaterThan(0);
    await read(org.reader, path);
    expect(await kept()).toBe(before);
  });
});
