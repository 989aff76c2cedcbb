import { randomBytes } from "node:crypto";

import { afterAll, beforeAll, expect, it } from "vitest";

import { listTrailEvents } from "../../src/modules/process/trails/event-store.ts";
import { getTrail } from "../../src/modules/process/trails/service.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody, commitOf, fingerprintOf } from "../support/artifacts.ts";
import { commitInfo } from "../support/attestations.ts";
import { putFlow, putTrail } from "../support/flows.ts";

let app: TestApp;
let org: TestOrg;
beforeAll(async () => {
  app = await startTestApp();
  org = await app.org();
});
afterAll(() => app.close());

/** More than are read at once, so that they are read in parts. */
const reports = 520;

async function attest(at: number): Promise<number> {
  const places = [
    { target_artifacts: ["other", "more"], git_commit_info: commitInfo(commitOf("later")) },
    { artifact_fingerprint: fingerprintOf("web") },
    {},
  ];
  const body = { attestation_name: `check-${at % 5}`, is_compliant: true, ...places[at % 3] };
  const parts = { data_json: JSON.stringify(body) };
  const path = `/attestations/${org.name}/ci/trail/run/generic`;
  return (await org.member.request("POST", path, { parts })).status;
}

/** Reads a trail, and compares it with what a short one is read by. @returns the number of its parts. */
async function readParts(name: string): Promise<number> {
  const trail = await getTrail(app.deps, org, { flow_name: "ci", trail_name: name });
  const parts: unknown[][] = [];
  for await (const part of trail.events()) parts.push(part);
  expect(parts.flat()).toEqual(await listTrailEvents(app.deps.db, org.id, trail.row.id));
  return parts.length;
}

it("shows everything that happened on a long trail in its order, as on a short one", async () => {
  await putFlow(org.member, org.name, { name: "ci" });
  await putTrail(org.member, `${org.name}/ci`, { name: "run" });
  const artifact = artifactBody({
    fingerprint: fingerprintOf("web"),
    trail_name: "run",
    template_reference_name: "web",
  });
  await org.member.post(`/artifacts/${org.name}/ci`, artifact);
  for (let at = 0; at < reports; at += 20) {
    const statuses = await Promise.all(Array.from({ length: 20 }, (_, more) => attest(at + more)));
    expect(new Set(statuses)).toEqual(new Set([201]));
  }
  // Each attestation tells what its artifact was called when it was made.
  await org.member.post(`/artifacts/${org.name}/ci`, { ...artifact, filename: "web:2" });
  expect(await attest(1)).toBe(201);
  expect(await readParts("run")).toBeGreaterThan(1);
  const shown = (await org.reader.get(`/trails/${org.name}/ci/run`)).json;
  expect(shown.events).toHaveLength(reports + 4 + Math.ceil(reports / 3));
  const names = shown.events.flatMap(({ type, artifact_name }: { type: string; artifact_name: string }) =>
    type === "artifact_attestation_reported" ? [artifact_name] : [],
  );
  expect(names.at(-1)).toBe("web:2");
  expect(new Set(names.slice(0, -1))).toEqual(new Set([artifact["filename"]]));
  const kinds = new Set(
    shown.events.map(
      ({ type, is_reattestation }: { type: string; is_reattestation?: boolean }) =>
        `${type} ${is_reattestation}`,
    ),
  );
  for (const type of [
    "trail_attestation_reported",
    "trail_attestation_for_artifact_reported",
    "artifact_attestation_reported",
  ])
    for (const again of [true, false]) expect(kinds).toContain(`${type} ${again}`);
}, 60_000);

it("packs a long trail as it is read", async () => {
  const answer = await org.reader.get(`/trails/${org.name}/ci/run/audit_package`);
  expect(answer.status).toBe(200);
  const begin = answer.text.indexOf('{"name":"run"');
  const text = answer.text.slice(begin, answer.text.indexOf("\n\0", begin));
  expect(JSON.parse(text)).toEqual((await org.reader.get(`/trails/${org.name}/ci/run`)).json);
});

it("reads a trail in parts that is long by what ran, or by changes that are large", async () => {
  const flow = `${org.name}/ci`;
  await putTrail(org.member, flow, { name: "ran" });
  await app.deps.db.pool.query(
    `insert into trail_events (org_id, trail_id, id, occurred_at, type, environment_name, snapshot_index, replica_number)
     select org_id, id, gen_random_uuid(), to_timestamp(1000 + at), 'artifact_started_running', 'prod', at, 1
     from trails, generate_series(1, $2::integer) at where org_id = $1 and name = 'ran'`,
    [org.id, reports],
  );
  expect(await readParts("ran")).toBeGreaterThan(1);
  for (let at = 0; at < 3; at += 1)
    await putTrail(org.member, flow, {
      name: "large",
      user_data: { text: randomBytes(400_000).toString("base64") },
    });
  expect(await readParts("large")).toBeGreaterThan(1);
});
