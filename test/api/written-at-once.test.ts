import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

import type { Query } from "../../src/db/sql.ts";
import { seenFrom, startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody, commitOf, fingerprintOf, repoInfo } from "../support/artifacts.ts";
import { attest, commitInfo } from "../support/attestations.ts";
import type { Answer } from "../support/client.ts";
import { putFlow, putTrail, sampleTemplate } from "../support/flows.ts";
import { statementNamesOf } from "../support/statements.ts";
import { amount } from "../support/thorough.ts";

let app: TestApp;
/** Another server on the same database. */
let elsewhere: TestApp;

/** What comes before each writing at once; false when it has to be left to a transaction. */
let beforeWriting: () => Promise<boolean>;
/** How many were written at once. */
let writtenAtOnce: number;

beforeAll(async () => {
  app = await startTestApp();
  elsewhere = await startTestApp({}, { beside: app });
  const { db } = app.deps;
  const own = db.one;
  db.one = async <Row>(query: Query<Row>): Promise<Row> => {
    if (query.name !== "write-attestations") return own(query);
    if (!(await beforeWriting())) return { version: null } as Row;
    const row = await own(query);
    if ((row as { version: string | null }).version !== null) writtenAtOnce += 1;
    return row;
  };
});
afterAll(async () => {
  await elsewhere.close();
  await app.close();
});
beforeEach(() => {
  beforeWriting = () => Promise.resolve(true);
  writtenAtOnce = 0;
});

const commit = commitOf("one");
const unit = { attestation_name: "unit", is_compliant: true };

function report(org: TestOrg, body: Record<string, unknown> = unit, kind = "generic"): Promise<Answer> {
  return attest(org.member, { org: org.name }, kind, body);
}

const tables = [
  ["repos", "id"],
  ["flows", "id"],
  ["trails", "id"],
  ["artifacts", "id"],
  ["attestations", "id"],
  ["attestation_heads", "trail_id, kind, place, name, type"],
  ["trail_events", "id"],
  ["trail_compliance", "trail_id"],
  ["trail_outcomes", "trail_id"],
  ["flow_activity", "flow_id"],
  ["trail_tallies", "flow_id"],
  ["audit_log", "seq"],
] as const;

/** Columns that say nothing else than others, of ids and times that are made anew each time. */
const derived = new Set(["own_digest", "active_minute", "slot", "request_digest"]);

/** Reads everything that is kept of an organization's reports, with the order of their first mention in place of ids and times. */
async function everythingOf(org: TestOrg): Promise<string> {
  const lines: string[] = [];
  for (const [table, order] of tables) {
    const { rows } = await app.deps.db.pool.query<{ row: Record<string, unknown> }>(
      `select to_jsonb(t) as row from ${table} t where org_id = $1 order by ${order}`,
      [org.id],
    );
    for (const { row } of rows)
      lines.push(
        `${table} ${JSON.stringify(row, (key, value: unknown) => (derived.has(key) ? undefined : value))}`,
      );
  }
  const met = new Map<string, string>();
  const made =
    /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{8,12}|\d{4}-\d\d-\d\dT[\d:.]+\+00:00|\b1[78]\d{8}(?:\.\d+)?\b|req-\w+|"user-[\w-]+/g;
  const given = lines.join("\n").replaceAll(org.name, "org");
  return given.replace(made, (text) => {
    const isNumber = /^\d+(?:\.\d+)?$/.test(text);
    // With and without zeros at the end.
    const key = isNumber ? String(Number(text)) : text.slice(0, 32);
    if (!met.has(key)) met.set(key, `<${met.size}>`);
    return met.get(key)!;
  });
}

type Step = (org: TestOrg) => Promise<Answer>;

const flow = fc.constantFrom("web-ci", "api-ci");
const trail = fc.constantFrom("run", "Run-2", "10");
const part = fc.constantFrom("cli", "other");
const sha = fc.constantFrom("one", "two").map(commitOf);
const repo = fc.constantFrom(undefined, repoInfo("acme/web"), repoInfo("acme/api"), {
  name: "acme/bare",
  url: "https://git.example.com/acme/bare",
});

/** What an attestation is bound to. */
const binding = fc.oneof(
  fc.constant({}),
  fc.record({ artifact_fingerprint: fc.constantFrom("a", "b").map(fingerprintOf) }),
  fc.record({
    target_artifacts: fc.uniqueArray(part, { minLength: 1 }),
    git_commit_info: sha.map(commitInfo),
  }),
  fc.record({ git_commit_info: sha.map(commitInfo) }),
);

const attestation: fc.Arbitrary<Step> = fc
  .record({
    flow,
    trail,
    bound: binding,
    body: fc.record(
      {
        repo_info: repo,
        description: fc.string(),
        user_data: fc.constantFrom({ n: 1 }, [1.5, "é\u2028"], {}),
        external_urls: fc.constant({ log: { href: "https://ci.example.com/1" } }),
        annotations: fc.constant({ tool: "x" }),
      },
      { requiredKeys: [] },
    ),
    attestation_name: fc.constantFrom("bar", "foo", "unit"),
    verdict: fc.boolean(),
    kind: fc.constantFrom("generic", "junit", "system", "override", "override"),
    stated: fc.constantFrom("generic", "junit", "snyk", "system:decision"),
  })
  .map(({ flow, trail, bound, body, attestation_name, verdict, kind, stated }) => (org) => {
    const own = {
      generic: { is_compliant: verdict },
      junit: {
        junit_results: [
          {
            name: "s",
            errors: 0,
            failures: verdict ? 0 : 1,
            skipped: 0,
            total: 2,
            duration: 1,
            timestamp: 1_786_000_000,
          },
        ],
      },
      system: { type_name: "decision", control: "C-1", attestation_data: { is_compliant: verdict } },
      override: { reason: "known", new_compliance_status: verdict, original_attestation_type: stated },
    }[kind];
    return attest(org.member, { org: org.name, flow, trail }, kind, {
      attestation_name,
      ...body,
      ...bound,
      ...own,
    });
  });

const artifact: fc.Arbitrary<Step> = fc
  .record({ flow, trail, part, sha, fingerprint: fc.constantFrom("a", "b").map(fingerprintOf) })
  .map(({ flow, trail, part, sha, fingerprint }) => (org) => {
    const body = artifactBody({
      fingerprint,
      git_commit: sha,
      trail_name: trail,
      template_reference_name: part,
    });
    return org.member.post(`/artifacts/${org.name}/${flow}`, body);
  });

const template: fc.Arbitrary<Step> = fc
  .record({ flow, text: fc.constantFrom(sampleTemplate, "version: 1\ntrail: {}\n") })
  .map(
    ({ flow, text }) =>
      (org) =>
        putFlow(org.member, org.name, { name: flow }, text),
  );

const stepOf = fc.oneof(
  { weight: 8, arbitrary: attestation },
  { weight: 2, arbitrary: artifact },
  { weight: 1, arbitrary: template },
);

/** Makes what has to be there already for attestations to be written at once. */
async function prepare(org: TestOrg): Promise<void> {
  await putFlow(org.member, org.name, { name: "api-ci" }, sampleTemplate);
  const body = artifactBody({
    fingerprint: fingerprintOf("a"),
    git_commit: commitOf("one"),
    trail_name: "run",
    template_reference_name: "cli",
    repo_info: repoInfo("acme/web"),
  });
  expect((await org.member.post(`/artifacts/${org.name}/web-ci`, body)).status).toBe(201);
}

describe("attestations written at once", () => {
  it("leave behind what a transaction would", { timeout: 240_000 }, async () => {
    const runs = amount(15, 35);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(stepOf, fc.nat(9)), { minLength: 1, maxLength: 14, size: "max" }),
        async (each) => {
          const [quick, slow] = [await app.org(), await app.org()];
          for (const org of [quick, slow]) await prepare(org);
          for (const [step, where] of each) {
            beforeWriting = () => Promise.resolve(true);
            // Now and then by another server: what this one remembers is of no use then.
            const answer = await step(where === 0 ? seenFrom(elsewhere, quick) : quick);
            beforeWriting = () => Promise.resolve(false);
            const same = await step(slow);
            const text = JSON.stringify(same.json).replaceAll(slow.name, quick.name);
            expect([answer.status, JSON.stringify(answer.json)]).toEqual([same.status, text]);
          }
          expect(await everythingOf(quick)).toBe(await everythingOf(slow));
        },
      ),
      { numRuns: runs },
    );
    expect(writtenAtOnce).toBeGreaterThan(amount(15, 50));
  });

  it("take a statement to look and one to write, beside the one that finds who calls; then only one", async () => {
    const org = await app.org();
    const body = { ...unit, repo_info: repoInfo("acme/web"), git_commit_info: commitInfo(commit) };
    await report(org, body);
    expect(await statementNamesOf(app, () => report(org, body))).toEqual([
      "find-reported",
      "write-attestations",
    ]);
    expect(await statementNamesOf(app, () => report(org, body))).toEqual(["write-attestations"]);
    expect(writtenAtOnce).toBe(2);
  });

  it("begin trails of flows that exist, once", async () => {
    const org = await app.org();
    await putFlow(org.member, org.name, { name: "web-ci" }, sampleTemplate);
    const answers = await Promise.all(Array.from({ length: 20 }, () => report(org)));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 201));
    expect(writtenAtOnce).toBeGreaterThan(0);
    const { json } = await org.reader.get(`/trails/${org.name}/web-ci/run`);
    const types = json.events.map(({ type }: { type: string }) => type);
    expect(types.filter((type: string) => type === "trail_reported")).toHaveLength(1);
    expect(types.filter((type: string) => type === "trail_attestation_reported")).toHaveLength(20);
  });
});

/** Numbers and resource types of the audit log, which has no gaps. */
async function audited(org: TestOrg): Promise<string[]> {
  const { rows: entries } = await app.deps.db.pool.query<{ seq: string; resource_type: string }>(
    "select seq, resource_type from audit_log where org_id = $1 order by seq",
    [org.id],
  );
  expect(entries.map(({ seq }) => Number(seq))).toEqual(entries.map((_, at) => at + 1));
  return entries.map(({ resource_type }) => resource_type);
}

describe("what happens between looking and writing", () => {
  /** Does something once, before the first writing. */
  function meanwhile(work: () => Promise<unknown>): void {
    let isDone = false;
    beforeWriting = async () => {
      if (!isDone) {
        isDone = true;
        await work();
      }
      return true;
    };
  }

  it("on the trail counts in the verdict", async () => {
    const org = await app.org();
    await putFlow(org.member, org.name, { name: "web-ci" }, sampleTemplate);
    await putTrail(org.member, `${org.name}/web-ci`, { name: "run" });
    const fingerprint = fingerprintOf("cli");
    meanwhile(() =>
      org.member.post(
        `/artifacts/${org.name}/web-ci`,
        artifactBody({ fingerprint, trail_name: "run", template_reference_name: "cli" }),
      ),
    );
    expect((await report(org)).status).toBe(201);
    expect(writtenAtOnce).toBe(0);
    const { json } = await org.reader.get(`/trails/${org.name}/web-ci/run`);
    expect(json.compliance_status.artifacts_statuses.cli.artifact_fingerprint).toBe(fingerprint);
    expect(json.compliance_status.attestations_statuses).toContainEqual(
      expect.objectContaining({ attestation_name: "unit", status: "COMPLETE" }),
    );
    expect(await audited(org)).toEqual(["flow", "trail", "artifact", "attestation"]);
  });

  it("to a trail that is begun by somebody else loses neither report", async () => {
    const org = await app.org();
    await putFlow(org.member, org.name, { name: "web-ci" }, sampleTemplate);
    meanwhile(() => putTrail(org.member, `${org.name}/web-ci`, { name: "run", description: "theirs" }));
    expect((await report(org)).status).toBe(201);
    const { json } = await org.reader.get(`/trails/${org.name}/web-ci/run`);
    expect(json.description).toBe("theirs");
    expect(json.events.map(({ type }: { type: string }) => type)).toContain("trail_attestation_reported");
    expect(await audited(org)).toEqual(["flow", "trail", "attestation"]);
  });

  it("to the template of the flow counts for a trail that is begun", async () => {
    const org = await app.org();
    await putFlow(org.member, org.name, { name: "web-ci" }, sampleTemplate);
    meanwhile(() => putFlow(org.member, org.name, { name: "web-ci" }, "version: 1\ntrail: {}\n"));
    expect((await report(org)).status).toBe(201);
    const { json } = await org.reader.get(`/trails/${org.name}/web-ci/run`);
    expect(json.compliance_state).toBe("COMPLIANT");
  });

  it("to the flow keeps the report off it when it is archived, as its name does afterwards", async () => {
    const org = await app.org();
    await report(org);
    meanwhile(() => org.admin.put(`/flows/${org.name}/web-ci/archive`));
    expect((await report(org)).status).toBe(201);
    expect(writtenAtOnce).toBe(0);
    const { rows } = await app.deps.db.pool.query<{ name: string; archived: boolean; reports: number }>(
      `select name, archived_at is not null as archived,
        (select count(*) from attestations a where a.org_id = f.org_id and a.flow_id = f.id)::integer as reports
      from flows f where org_id = $1 order by archived_at`,
      [org.id],
    );
    expect(rows.map(({ archived, reports }) => [archived, reports])).toEqual([
      [true, 1],
      [false, 1],
    ]);
    const refused = await attest(org.member, { org: org.name, flow: rows[0]!.name }, "generic", unit);
    expect([refused.status, refused.json.message]).toEqual([400, expect.stringContaining("archived")]);
    expect(await audited(org)).toEqual(["attestation", "flow", "attestation"]);
  });

  it("makes no difference when the flow is renamed: its former name leads to it", async () => {
    const org = await app.org();
    await report(org);
    meanwhile(() => org.admin.put(`/flows/${org.name}/web-ci/rename`, { new_name: "web" }));
    expect((await report(org)).status).toBe(201);
    const { json } = await org.reader.get(`/trails/${org.name}/web/run`);
    expect(json.events.filter(({ type }: { type: string }) => type.includes("attestation"))).toHaveLength(2);
  });

  it("waits for whoever writes to the trail, and sees what they wrote", async () => {
    const org = await app.org();
    await report(org);
    const other = await app.deps.db.pool.connect();
    try {
      meanwhile(async () => {
        await other.query("begin");
        await other.query("update trails set description = 'theirs' where org_id = $1", [org.id]);
        setTimeout(() => void other.query("commit"), 200);
      });
      expect((await report(org)).status).toBe(201);
      expect(writtenAtOnce).toBe(0);
    } finally {
      other.release();
    }
    expect((await org.reader.get(`/trails/${org.name}/web-ci/run`)).json.description).toBe("theirs");
  });
});
