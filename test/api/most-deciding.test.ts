import { afterAll, beforeAll, expect, it } from "vitest";

import { mostDeciding } from "../../src/modules/process/compliance/case-sql.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody, commitOf } from "../support/artifacts.ts";
import { attest, commitInfo } from "../support/attestations.ts";
import { columnsBut } from "../support/table-columns.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const targets = 1000;

/** Adds attestations of so many names to the only one there is, for the same artifacts, as reports would have. */
async function addAttestations(org: TestOrg, names: number): Promise<void> {
  const { pool } = app.deps.db;
  const shared = await columnsBut(app, "attestations", ["id", "name"]);
  const others = `select a.*, 'more-' || n as other_name, (left(id::text, 24) || lpad(n::text, 12, '0'))::uuid as other_id
    from attestations a, generate_series(1, $2::int) n where org_id = $1`;
  await pool.query(
    `insert into attestation_heads (org_id, trail_id, kind, place, name, type, first_id, latest_id, latest_plain_id)
    select h.org_id, h.trail_id, h.kind, h.place, o.other_name, h.type, o.other_id, o.other_id, o.other_id
    from (${others}) o join attestation_heads h on h.org_id = o.org_id and h.trail_id = o.trail_id`,
    [org.id, names],
  );
  await pool.query(
    `insert into attestations (id, name, ${shared}) select other_id, other_name, ${shared} from (${others}) o`,
    [org.id, names],
  );
}

/** What reports leave behind. */
async function stored(org: TestOrg): Promise<unknown> {
  const { rows } = await app.deps.db.pool.query(
    `select (select count(*) from attestations where org_id = $1) as attestations,
      (select count(*) from artifacts where org_id = $1) as artifacts,
      (select count(*) from attestation_heads where org_id = $1) as heads,
      (select audit_seq from org_counters where org_id = $1) as audit_seq,
      (select md5(string_agg(t::text, '')) from trails t where org_id = $1) as trails,
      (select md5(string_agg(status::text, '')) from trail_compliance where org_id = $1) as verdicts`,
    [org.id],
  );
  return rows[0];
}

it(
  "trails take no more reports than can be judged, and keep what they have",
  { timeout: 120_000 },
  async () => {
    const org = await app.org();
    const report = async (name: string, many: number): Promise<unknown[]> => {
      const { status, json } = await attest(org.member, { org: org.name }, "generic", {
        attestation_name: name,
        is_compliant: true,
        target_artifacts: Array.from({ length: many }, (_, index) => `part-${index}`),
        git_commit_info: commitInfo(commitOf("a")),
      });
      return [status, json];
    };
    expect(await report("first", targets)).toEqual([201, "OK"]);
    await addAttestations(org, mostDeciding / targets - 2);
    expect(await report("last", targets)).toEqual([201, "OK"]);

    const before = await stored(org);
    const refused = `Reports on one trail may be about ${mostDeciding} artifacts, each counted for every name of an attestation: begin another trail`;
    expect(await report("one-more", 1)).toEqual([400, { message: refused }]);
    // The first report of a name decides beside its last one.
    expect(await report("last", 1)).toEqual([400, { message: refused }]);
    expect(await stored(org)).toEqual(before);

    const trail = `/trails/${org.name}/web-ci`;
    expect((await org.reader.get(`${trail}/run/explain`)).status).toBe(200);
    const artifact = artifactBody({ trail_name: "run", template_reference_name: "part-1" });
    expect((await org.member.post(`/artifacts/${org.name}/web-ci`, artifact)).status).toBe(201);
    const other = { data_json: JSON.stringify({ name: "other" }) };
    expect((await org.member.request("PUT", trail, { parts: other })).status).toBe(201);
  },
);
