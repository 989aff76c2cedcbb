import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { bytes, text } from "../../src/db/row.ts";
import { query, sql } from "../../src/db/sql.ts";
import { createSecretBox } from "../../src/lib/secret-box.ts";
import { openSecrets } from "../../src/modules/notices/actions/targets.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { ActionFixtures, envAction, putEnv } from "../support/actions.ts";

let app: TestApp;
let fixtures: ActionFixtures;
beforeAll(async () => {
  app = await startTestApp();
  fixtures = new ActionFixtures(app);
});
afterAll(() => app.close());

describe("secrets", () => {
  const secret = "Qm9va0tva2Vu-secret";
  const targets = [
    { type: "WEBHOOK", webhook: `https://hooks.example.com/${secret}?k=${secret}` },
    { type: "SLACK", webhook: `https://hooks.slack.com/${secret}` },
  ];

  it("appear in no answer, no log and nowhere in the database, and can be opened again", async () => {
    const { org } = await fixtures.org();
    const answers = [
      await putEnv(org, { targets }),
      await putEnv(org, { targets }),
      await putEnv(org, { targets: [{ ...targets[0], typo: targets[0]!.webhook }] }),
      await putEnv(org, { targets: [{ ...targets[0], webhook: `http://127.0.0.1/${secret}` }] }),
      await putEnv(org, { targets: [{ ...targets[0], webhook: secret }] }),
      await putEnv(org, { webhook: targets[0]!.webhook }),
      await org.admin.get(`/actions/${org.name}`),
      await org.admin.get(`/actions/${org.name}/1`),
    ];
    expect(answers.map(({ status }) => status)).toEqual([201, 200, 400, 400, 400, 400, 200, 200]);
    for (const answer of answers) expect(answer.text).not.toContain(secret);
    expect(app.logged()).not.toContain(secret);
    const rows = await app.deps.db.all(query({ row: text, target_secrets: bytes })`
      select a::text as row, target_secrets from actions as a where org_id = ${org.id}`);
    expect(rows).toHaveLength(1);
    expect(rows[0]!.row).not.toContain(secret);
    expect(rows[0]!.target_secrets.toString("latin1")).not.toContain(secret);
    expect(openSecrets(app.deps.secrets, rows[0]!.target_secrets)).toEqual(
      targets.map(({ webhook }) => webhook),
    );
    expect(openSecrets(createSecretBox("another key"), rows[0]!.target_secrets)).toBeUndefined();
  });

  it("that cannot be opened any more do not stand in the way of a new action", async () => {
    const { org } = await fixtures.org();
    await putEnv(org, { targets });
    await app.deps.db.run(sql`update actions set target_secrets = 'garbage' where org_id = ${org.id}`);
    expect((await putEnv(org, { targets })).status).toBe(201);
  });
});

describe("private targets", () => {
  it("are accepted where the operator allows them", async () => {
    const allowing = await startTestApp({ WAYBILL_ALLOW_PRIVATE_TARGETS: "1" });
    try {
      const org = await allowing.org();
      await new ActionFixtures(allowing).environment(org, "prod");
      const targets = [{ type: "WEBHOOK", webhook: "http://localhost:9000/hook" }];
      const answer = await org.member.put(`/actions/${org.name}/environments`, envAction({ targets }));
      expect(answer.status).toBe(201);
    } finally {
      await allowing.close();
    }
  });
});
