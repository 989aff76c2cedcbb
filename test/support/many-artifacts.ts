import { randomBytes } from "node:crypto";

import type { TestApp, TestOrg } from "./app.ts";
import { artifactBody, fingerprintOf } from "./artifacts.ts";
import { createEnvironment } from "./environments.ts";
import { attachPolicies, createPolicy, policyText } from "./policies.ts";
import { reportServer } from "./snapshots.ts";
import { columnsBut } from "./table-columns.ts";

/** A policy with so many rules. */
function policyOf(rules: number): string {
  const checks = Array.from({ length: rules - 2 }, (_, index) => `  - {name: check-${index}, type: generic}`);
  return policyText(
    "provenance: {required: true}",
    "trail-compliance: {required: true}",
    "attestations:",
    ...checks,
  );
}

/**
 * An environment `prod` in whose latest snapshot run that many artifacts, judged by that many rules. One of them is reported
 * and judged; the record of the others is a copy of its record under other names, which is the same to whoever reads it.
 */
export async function withArtifacts(
  app: TestApp,
  org: TestOrg,
  { artifacts, rules, name = "web" }: { artifacts: number; rules: number; name?: string },
): Promise<void> {
  const fingerprint = fingerprintOf(randomBytes(8).toString("hex"));
  await org.member.put(`/flows/${org.name}`, { name: "ci" });
  await org.member.put(`/trails/${org.name}/ci`, { name: "run" });
  await org.member.post(`/artifacts/${org.name}/ci`, artifactBody({ fingerprint, trail_name: "run" }));
  await createEnvironment(org, "prod", { type: "server" });
  await createPolicy(org, "checks", policyOf(rules));
  await attachPolicies(org, "prod", "checks");
  await reportServer(org, "prod", [{ name, fingerprint }]);
  const { pool } = app.deps.db;
  const own = ["id", "first_index", "event_number", "fingerprint", "doc", "flows"];
  const names = await columnsBut(app, "snapshot_artifacts", own);
  await pool.query(
    `insert into snapshot_artifacts (id, first_index, event_number, fingerprint, ${names})
    select id + n, 2, event_number + n, other, ${names}
    from snapshot_artifacts a
    cross join generate_series(1, $2::int) as n
    cross join lateral (select encode(sha256(n::text::bytea), 'hex') as other) d
    where org_id = $1`,
    [org.id, artifacts],
  );
  await pool.query(
    `insert into snapshot_documents (org_id, environment_id, id, doc, flows)
    select a.org_id, a.environment_id, a.id, replace(d.doc, first.fingerprint, a.fingerprint), d.flows
    from snapshot_documents d
    join snapshot_artifacts first on first.org_id = d.org_id and first.environment_id = d.environment_id and first.id = d.id
    join snapshot_artifacts a on a.org_id = d.org_id and a.environment_id = d.environment_id and a.id > d.id
    where d.org_id = $1`,
    [org.id],
  );
  await pool.query(
    `insert into snapshots (org_id, environment_id, index, created_at, compliant, type, cause, event_count,
      artifact_compliance_count, applied_policies, failing_versions, artifacts)
    select org_id, environment_id, 2, created_at, compliant, type, cause, event_count + $2::int,
      json_build_object('true', 0, 'false', $2::int, 'null', 0), applied_policies, failing_versions,
      array(select artifacts[1] + n from generate_series(1, $2::int) as n)
    from snapshots where org_id = $1`,
    [org.id, artifacts],
  );
  await pool.query("update environment_reports set snapshot_count = 2 where org_id = $1", [org.id]);
}
