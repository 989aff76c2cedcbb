import { randomInt } from "node:crypto";

import pg from "pg";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";

import { noticeSilence } from "../../src/modules/runtime/silence/watch-service.ts";
import { envAction } from "../support/actions.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody } from "../support/artifacts.ts";
import { attest } from "../support/attestations.ts";
import type { Answer, Client } from "../support/client.ts";
import { withDatabase } from "../support/databases.ts";
import { createEnvironment } from "../support/environments.ts";
import { runPendingJobs } from "../support/jobs.ts";
import { putPolicy, samplePolicy } from "../support/policies.ts";
import { reportServer } from "../support/snapshots.ts";
import { amount } from "../support/thorough.ts";
import { uniqueName } from "../support/unique-name.ts";

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
  `/organizations/${org.name}/overview`,
  `/allowlists/${org.name}/prod`,
  `/organizations/${org.name}`,
  `/tags/${org.name}/environment`,
];

type Seen = Pick<Answer, "status" | "text">;

/** Who looks at what. */
interface Look {
  asker: Client;
  paths: string[];
}

function anyLook(): Look {
  const paths = Array.from({ length: 5 }, () => oneOf(reads()));
  return {
    asker: oneOf([org.reader, org.member, first.anonymous]),
    paths: [...paths, `/organizations/${org.name}`],
  };
}

async function read(app: TestApp, { key }: Client, path: string): Promise<Seen> {
  const { status, text } = await (key === undefined ? app.anonymous : app.as(key)).get(path);
  return { status, text };
}

/** Reads through both servers, more than once at the same time. */
function readAll({ asker, paths }: Look): Promise<(Seen & { path: string })[]> {
  return Promise.all(
    paths.flatMap((path) =>
      [first, second, oneOf([first, second])].map(async (app) => ({
        path,
        ...(await read(app, asker, path)),
      })),
    ),
  );
}

/** Reads, lets something be written, reads the same again, and requires what the server without memory says. */
async function expectFresh(write: () => Promise<string>): Promise<void> {
  const look = anyLook();
  await readAll(look);
  const after = await write();
  const seen = await readAll(look);
  for (const { path, status, text } of seen) {
    const expected = await read(without, look.asker, path);
    expect({ after, path, status, text }).toEqual({ after, path, ...expected });
  }
}

/** A transaction of the other program, which may stay open for some rounds. */
class SlowWrite {
  isOpen = false;
  ended = 0;

  async step(): Promise<string> {
    if (!this.isOpen) {
      await writer.query("begin");
      await writer.query("savepoint inner_one");
      await writer.query("update organizations set display_name = $1 where id = $2", [
        uniqueName("shown"),
        org.id,
      ]);
      if (randomInt(4) === 0) await writer.query("rollback to inner_one");
      this.isOpen = true;
      return "a transaction that was begun";
    }
    const end = randomInt(4) === 0 ? "rollback" : "commit";
    await writer.query(end);
    this.isOpen = false;
    this.ended += 1;
    return `the ${end} of a transaction`;
  }
}

describe("answers that are kept", () => {
  it("are never older than what was written before they were asked for, whoever wrote it", async () => {
    const slow = new SlowWrite();
    const rounds = Number(process.env["WAYBILL_HUNT_ROUNDS"] ?? amount(30, 50));
    for (let round = 0; round < rounds; round += 1)
      await expectFresh(async () => {
        const roll = randomInt(10);
        if (roll < 4) return slow.step();
        if (roll < 5) return "nothing";
        // For what an open transaction holds others would wait.
        const name = oneOf(Object.keys(writes).filter((one) => !(slow.isOpen && one === "organization")));
        const app = oneOf([first, second]);
        await writes[name]!(app, app.as(org.admin.key!));
        return name;
      });
    if (slow.isOpen) await writer.query("rollback");
    expect(slow.ended).toBeGreaterThan(0);
  }, 120_000);

  // On Citus none is kept.
  it.skipIf(inject("cluster"))("are given again without asking what makes them", async () => {
    // Lists of spaces are read on a connection of the pool's.
    const path = `/spaces/${org.name}`;
    const askingTakes = async (app: TestApp): Promise<number> => {
      let taken = 0;
      const count = (): void => void (taken += 1);
      app.deps.db.pool.on("acquire", count);
      await read(app, org.reader, path);
      app.deps.db.pool.off("acquire", count);
      return taken;
    };
    // Other databases of this PostgreSQL may have committed something meanwhile, so that they are made again.
    let [tries, taken] = [0, 1];
    for (; tries < 100 && taken > 0; tries += 1) taken = await askingTakes(first);
    expect([taken, await askingTakes(without)]).toEqual([0, 1]);
  });
});
