import { execFile } from "node:child_process";
import { once } from "node:events";
import { promisify } from "node:util";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { sizes } from "../../demo/data/sizes.ts";
import { sites } from "../../demo/model/sites.ts";
import { silentEnvironment } from "../../demo/steps/silence.ts";
import { environmentTypes } from "../../src/domain/environments.ts";
import {
  freePort,
  initialAdminKey,
  type ServerProcess,
  spawnWaybill,
  startServer,
  withUsedDataDir,
} from "../support/server-process.ts";

interface Outcome {
  code: number | null;
  lines: string[];
  errors: string;
}

/** Whoever runs the tests may have these for a server of their own. */
const unset = { WAYBILL_KEY: "", WAYBILL_PUBLIC_URL: "", DATABASE_URL: "", PORT: "" };

async function waybill(args: string[], environment: Record<string, string>): Promise<Outcome> {
  const child = spawnWaybill(args, { ...unset, ...environment });
  const said = { out: "", errors: "" };
  child.stdout?.setEncoding("utf8").on("data", (chunk: string) => void (said.out += chunk));
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => void (said.errors += chunk));
  await once(child, "close");
  return { code: child.exitCode, lines: said.out.split("\n"), errors: said.errors };
}

function isCommand(line: string): boolean {
  return /^(?:curl|BODY=|printf)/.test(line);
}

/** Runs a printed line as a user would, and has curl say the status as well. */
async function inShell(line: string): Promise<{ status: number; body: unknown }> {
  const { stdout } = await promisify(execFile)("/bin/sh", ["-c", `${line} -w '\\n%{http_code}'`]);
  const end = stdout.lastIndexOf("\n");
  return { status: Number(stdout.slice(end + 1)), body: JSON.parse(stdout.slice(0, end)) };
}

describe("waybill demo", { timeout: 120_000 }, () => {
  let server: ServerProcess;
  let dataDir = "";
  let beside: Record<string, string> = {};
  let first: Outcome;
  let finish = (): void => {};
  let served: Promise<void>;

  beforeAll(async () => {
    const up = new Promise<void>((resolve, reject) => {
      served = withUsedDataDir(async (folder) => {
        dataDir = folder;
        server = await startServer(folder);
        beside = { WAYBILL_DATA_DIR: folder, WAYBILL_PUBLIC_URL: server.url };
        const done = new Promise<void>((end) => (finish = end));
        resolve();
        await done;
        await server.stop();
      });
      served.catch(reject);
    });
    await up;
    first = await waybill(["demo", "--size", "small"], beside);
  }, 120_000);

  afterAll(async () => {
    finish();
    await served;
  });

  async function get(path: string): Promise<unknown> {
    const response = await fetch(`${server.url}/api/v2${path}`, {
      headers: { authorization: `Bearer ${initialAdminKey(dataDir)}` },
    });
    expect(response.status).toBe(200);
    return response.json();
  }

  it("fills a new organization with as much as it says", async () => {
    expect(first.errors).toBe("");
    expect(first.code).toBe(0);
    expect(first.lines).toContain(`Filling organization harborlight on ${server.url}`);
    const { environments, builds, people } = sizes.small;
    expect(await get("/environments/harborlight?per_page=1")).toMatchObject({ total_count: environments });
    expect(await get("/environments/harborlight?archived=true&per_page=50")).toMatchObject({
      total_count: 3,
    });
    // The signed deliveries name artifacts of the demo only, so there are no builds but its own.
    expect(await get("/builds/harborlight?per_page=0&start_ts=0")).toMatchObject({ total_count: builds });
    expect(await get("/flows/harborlight")).toHaveLength(12);
    expect(await get("/members/harborlight")).toHaveLength(people + 1);
    expect(await get("/actions/harborlight")).toHaveLength(4);
  });

  it("spreads the builds over a year", async () => {
    const now = Date.now() / 1000;
    const old = `start_ts=0&end_ts=${now - 180 * 86_400}&per_page=0`;
    const { total_count } = (await get(`/builds/harborlight?${old}`)) as { total_count: number };
    expect(total_count).toBeGreaterThan(sizes.small.builds / 4);
  });

  it("prints commands that work exactly as printed", async () => {
    const commands = first.lines.filter(isCommand);
    const answers = [];
    for (const command of commands) answers.push(await inShell(command));
    expect(answers.map(({ status }) => status)).toEqual([...Array<number>(16).fill(200), 201, 200]);
    const bodies = answers.map(({ body }) => body);
    const [environments] = bodies;
    const [builds, statistics, tags, key, deleted, replay, delivery] = bodies.slice(11);
    expect(environments).toMatchObject({ environments: expect.arrayContaining([expect.anything()]) });
    expect(builds).toMatchObject({ builds: expect.arrayContaining([expect.anything()]) });
    expect(JSON.stringify(statistics).length).toBeGreaterThan(100);
    expect(tags).toMatchObject({
      tag_choices: expect.arrayContaining([{ key: "compliance", value: "pci" }]),
    });
    expect(key).toMatchObject({ description: "printed by the demo" });
    expect(deleted).toBe("OK");
    expect(replay).toMatchObject({ replay_of: expect.any(String) });
    expect(delivery).toEqual({ status: "accepted" });
  });

  it("prints commands that show what runs, and why it does not comply", async () => {
    const bodies = [];
    for (const command of first.lines.filter(isCommand).slice(1, 11))
      bodies.push((await inShell(command)).body);
    const [snapshot, stages, changes, events, explanation, assertion, deployments, live, preview, told] =
      bodies;
    expect(snapshot).toMatchObject({ is_latest: true, type: "K8S", compliant: false });
    const { applied_policies } = snapshot as { applied_policies: { name: string }[] };
    expect(applied_policies.map(({ name }) => name).sort()).toEqual([
      "complete-trails",
      "known-origin",
      "tested-and-reviewed",
    ]);
    const toolbox = expect.objectContaining({ name: "library.example/debug-toolbox:latest" });
    expect(stages).toMatchObject({ snappish2: { artifacts: expect.arrayContaining([toolbox]) } });
    expect(JSON.stringify(changes)).toContain("shop-prod#");
    expect(events).toHaveLength(5);
    expect(explanation).toMatchObject({
      status: "NON-COMPLIANT",
      artifacts: expect.arrayContaining([
        expect.objectContaining({
          artifact_name: "library.example/debug-toolbox:latest",
          proposed_reports: [expect.objectContaining({ kind: "artifact" })],
        }),
        expect.objectContaining({ artifact_name: "library.example/cache:8.1", allow_listed: true }),
      ]),
    });
    expect(assertion).toMatchObject({ environment: "shop-prod", scope: "environment" });
    expect(deployments).toMatchObject({
      deployments: expect.arrayContaining([
        expect.objectContaining({ lead_time_seconds: expect.any(Number) }),
      ]),
    });
    expect(live).toMatchObject({ live_artifacts: expect.arrayContaining([expect.anything()]) });
    expect(preview).toMatchObject({ compliant: false, environments: [{ name: "shop-staging" }] });
    expect(told).toMatchObject({
      deliveries: expect.arrayContaining([
        expect.objectContaining({ trigger: "ON_NON_COMPLIANT_ENV", action_number: expect.any(Number) }),
      ]),
    });
  });

  it("has environments of every kind report, some of which comply", async () => {
    const all = (await get("/environments/harborlight")) as {
      name: string;
      type: string;
      state: boolean | null;
      last_reported_at: number | null;
    }[];
    const reporting = all.filter(({ last_reported_at }) => last_reported_at !== null);
    expect(new Set(reporting.map(({ type }) => type))).toEqual(
      new Set(environmentTypes.filter((type) => type !== "logical")),
    );
    const expected = [...sites.map(({ name }) => name), silentEnvironment];
    expect(reporting.map(({ name }) => name).sort()).toEqual(expected.sort());
    const stateOf = (name: string) => all.find((each) => each.name === name)?.state;
    expect(stateOf("assets-prod")).toBe(true);
    expect(stateOf("shop-prod")).toBe(false);
    expect(stateOf("shop-staging")).toBeNull();
    expect(stateOf("production")).toBe(false);
  });

  it("has controls with decisions, evidence of the company's own kinds, overrides, and one that may say nothing for a minute", async () => {
    const { decisions } = (await get("/controls/harborlight/HL-REL-2/decisions")) as {
      decisions: { is_compliant: boolean }[];
    };
    expect(decisions.filter(({ is_compliant }) => !is_compliant)).toHaveLength(1);
    const types = (await get("/custom-attestation-types/harborlight")) as { name: string }[];
    expect(types.map(({ name }) => name).sort()).toEqual(["coverage-report", "load-test"]);
    const { data } = (await get("/attestations/harborlight?name=unit-tests&per_page=100")) as {
      data: { overridden_attestation_id?: string }[];
    };
    expect(data.some(({ overridden_attestation_id }) => overridden_attestation_id !== undefined)).toBe(true);
    expect(await get(`/environments/harborlight/${silentEnvironment}/silence`)).toMatchObject({
      limit_seconds: 60,
      limit_source: "set",
    });
  });

  it("has a public organization beside it, which everybody may read", async () => {
    const answer = await fetch(`${server.url}/api/v2/snapshots/harborlight-open/downloads/-1`);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({
      artifacts: [{ name: "lamp-1.1.0.tgz", flow_name: "lamp-ci" }],
    });
  });

  it("never touches an organization that is there", async () => {
    const again = await waybill(["demo", "--size", "small", "--org", "harborlight"], beside);
    expect(again.code).toBe(1);
    expect(again.errors).toContain("There is an organization harborlight already");
    expect(again.lines.filter(isCommand)).toEqual([]);
    const other = await waybill(["demo", "--size", "small"], beside);
    expect(other.errors).toBe("");
    expect(other.lines).toContain(`Filling organization harborlight-2 on ${server.url}`);
    expect(await get("/builds/harborlight-2?per_page=0&start_ts=0")).toMatchObject({
      total_count: sizes.small.builds,
    });
  });

  it("makes the same again from the same seed", async () => {
    const names = async (org: string): Promise<unknown> => {
      const all = (await get(`/environments/${org}`)) as { name: string; type: string; tags: unknown }[];
      return all.map(({ name, type, tags }) => ({ name, type, tags }));
    };
    expect(await names("harborlight-2")).toEqual(await names("harborlight"));
    const running = async (org: string): Promise<unknown> => {
      const { artifacts } = (await get(`/snapshots/${org}/shop-prod/-1`)) as {
        artifacts: { fingerprint: string; compliant: boolean | null; annotation: unknown }[];
      };
      return artifacts
        .map(({ fingerprint, compliant, annotation }) => ({ fingerprint, compliant, annotation }))
        .sort((one, other) => one.fingerprint.localeCompare(other.fingerprint));
    };
    expect(await running("harborlight-2")).toEqual(await running("harborlight"));
  });

  it("does without the server's database, and says what is missing then", async () => {
    const key = initialAdminKey(dataDir);
    const environment = { WAYBILL_DATA_DIR: `${dataDir}-elsewhere`, WAYBILL_KEY: key };
    const args = ["demo", "--size", "small", "--url", server.url, "--org", "from-afar"];
    const afar = await waybill(args, environment);
    expect(afar.errors).toBe("");
    expect(afar.lines.some((line) => line.includes("not within reach"))).toBe(true);
    expect(await get("/builds/from-afar?per_page=0&start_ts=0")).toMatchObject({
      total_count: sizes.small.recentBuilds,
    });
    expect(await get("/members/from-afar")).toHaveLength(1);
    for (const command of afar.lines.filter(isCommand))
      expect((await inShell(command)).status).toBeLessThan(300);
  });

  it("says what is wrong when it cannot begin", async () => {
    const nobody = await waybill(
      ["demo", "--url", `http://127.0.0.1:${await freePort()}`, "--key", "x"],
      beside,
    );
    expect(nobody.code).toBe(1);
    expect(nobody.errors).toContain("does not answer");
    const stranger = await waybill(["demo", "--key", "not-a-key"], beside);
    expect(stranger.errors).toContain("401");
    const keyless = await waybill(["demo"], { ...beside, WAYBILL_DATA_DIR: `${dataDir}-elsewhere` });
    expect(keyless.errors).toContain("WAYBILL_KEY");
  });
});
