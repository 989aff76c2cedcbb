import { randomBytes } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, inject, it } from "vitest";

import { createDeps } from "../../src/app.ts";
import { compareAnswers, type ComparedAnswers } from "../../src/cli/drill-answers.ts";
import { createLogger } from "../../src/lib/log.ts";
import { DamagedArchive } from "../../src/lib/tar-reader.ts";
import { readBackup } from "../../src/modules/maintenance/backups/read-service.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody, fingerprintOf } from "../support/artifacts.ts";
import { attestPassed } from "../support/attestations.ts";
import { keepEvidence } from "../support/evidence.ts";
import {
  besideDivision,
  forge,
  makeBackup,
  type RestoreTarget,
  restoreTarget,
} from "../support/restoring.ts";
import { writeUnguarded } from "../support/unguarded.ts";

let app: TestApp;
let org: TestOrg;
let folder: string;
let target: RestoreTarget;
let evidence: string;

beforeEach(async () => {
  app = await startTestApp({}, { maintained: true });
  org = await app.org();
  folder = await mkdtemp(join(tmpdir(), "waybill-faults-"));
  target = await restoreTarget(folder);
  await report(org);
  evidence = await keepEvidence(app, org, randomBytes(5_000));
});
afterEach(async () => {
  await target.remove();
  await app.close();
  await rm(folder, { recursive: true });
});

async function report(of: TestOrg): Promise<void> {
  for (const trail of ["one", "two"]) await attestPassed(of, trail, "unit");
  for (const name of ["one", "two", "three"]) {
    const body = artifactBody({ fingerprint: fingerprintOf(name), filename: name, trail_name: "one" });
    const { status, text } = await of.member.post(`/artifacts/${of.name}/web`, body);
    if (status !== 201) throw new Error(text);
  }
}

/** Plants a fault in an organization of its own. @param statement what is done to the rows of organization `$1`. */
async function plant(statement: string): Promise<TestOrg> {
  const own = await app.org();
  await report(own);
  await writeUnguarded(app, async (client) => {
    expect((await client.query(statement, [own.id])).rowCount).toBeGreaterThan(0);
  });
  return own;
}

const backup = (): Promise<string> => makeBackup(app, join(folder, "backup.tar"));

/** Compares answers with those of what was restored. */
function compared(): Promise<ComparedAnswers> {
  return target.opened((db) => {
    const { clock, config } = app.deps;
    const deps = createDeps(config, db, { log: createLogger("silent"), clock });
    return compareAnswers(app.deps, deps);
  });
}

// On Citus no backup is made by this program.
describe.skipIf(inject("cluster"))("without a fault", { timeout: 60_000 }, () => {
  it("a restore has nothing to say, and answers are equal", async () => {
    const { warnings } = await target.restore(await backup());
    expect(besideDivision(warnings)).toEqual([]);
    const { compared: count, differences } = await compared();
    expect(differences).toEqual([]);
    expect(count).toBeGreaterThanOrEqual(5);
    // Only what does not change by that is compared where something was reported since.
    await attestPassed(org, "three", "unit");
    const later = await compared();
    expect(later.differences).toEqual([]);
    expect(later.compared).toBeGreaterThan(0);
  });
});

describe.skipIf(inject("cluster"))("a fault in the database that was backed up", { timeout: 60_000 }, () => {
  it("is found, and named with the organization that has it", async () => {
    const expected: string[] = [];
    for (const [statement, problem] of [
      // A gap, the last entry, the first entry.
      ["delete from audit_log where org_id = $1 and seq = 2", "entries of the audit log are missing"],
      [
        "delete from audit_log l where org_id = $1 and seq = (select max(seq) from audit_log where org_id = l.org_id)",
        "the audit log does not end where it should",
      ],
      [
        "delete from audit_log where org_id = $1 and seq = 1",
        "the audit log does not begin with its first entry",
      ],
      // A gap in their numbers, the last one.
      ["delete from builds where org_id = $1 and number = 2", "builds are missing"],
      ["delete from builds where org_id = $1 and number = 3", "builds are missing"],
    ] as const)
      expected.push(`Organization ${(await plant(statement)).id}: ${problem}`);
    const misjudged = await plant(
      "update trail_compliance set state = case state when 'COMPLIANT' then 'NON-COMPLIANT' else 'COMPLIANT' end where org_id = $1",
    );
    const { rows } = await app.deps.db.pool.query<{ id: string }>("select id from trails where org_id = $1", [
      misjudged.id,
    ]);
    expect(rows).toHaveLength(2);
    expected.push(...rows.map(({ id }) => `The verdict on trail ${id} is not what its reports come to`));
    const failure: unknown = await target.restore(await backup()).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(DamagedArchive);
    expect((failure as Error).message.split("\n").toSorted()).toEqual(expected.toSorted());
  });

  it("is told of where a file of evidence is missing, or another than it was", async () => {
    const changed = await keepEvidence(app, org, randomBytes(5_000));
    await app.deps.evidence.remove(evidence);
    const { dir } = app.deps.config.evidence;
    const files = await readdir(dir, { recursive: true });
    const file = files.find((name) => name.replaceAll("/", "").includes(changed.slice(4)));
    await writeFile(join(dir, file ?? "none"), randomBytes(5_000));
    const { findings } = await target.restore(await backup());
    expect(findings.toSorted()).toEqual(
      [evidence, changed].toSorted().map((sha256) => `Evidence ${sha256} is missing`),
    );
  });
});

describe.skipIf(inject("cluster"))("a backup whose digests were made to fit", { timeout: 60_000 }, () => {
  it("with other rows is no copy: its answers differ", async () => {
    const source = await backup();
    // As long as before.
    const forged = await forge(source, join(folder, "forged.tar"), {
      part: (table, bytes) =>
        table === "public.audit_log"
          ? Buffer.from(
              bytes
                .toString("latin1")
                .replaceAll("report_artifact", "report_artefact")
                .replaceAll("create_artifact", "create_artefact"),
              "latin1",
            )
          : bytes,
    });
    await readBackup(createReadStream(forged));
    await target.restore(forged);
    const { differences } = await compared();
    expect(differences).not.toEqual([]);
    for (const difference of differences) expect(difference).toContain("list_organization_audit_log");
  });

  it("with other evidence is refused", async () => {
    const forged = await forge(await backup(), join(folder, "forged.tar"), {
      evidence: (_sha256, bytes) => randomBytes(bytes.length),
    });
    const problem = `evidence ${evidence} is not what its name says`;
    await expect(readBackup(createReadStream(forged))).rejects.toThrow(problem);
    await expect(target.restore(forged)).rejects.toThrow(problem);
  });

  it("is taken for what it is when nothing was changed", async () => {
    const same = await forge(await backup(), join(folder, "same.tar"), {});
    expect(besideDivision((await target.restore(same)).warnings)).toEqual([]);
    expect((await compared()).differences).toEqual([]);
  });
});
