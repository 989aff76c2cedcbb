import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startTestApp, type TestApp } from "../support/app.ts";
import { ActionFixtures, flowAction, putEnv, webhook } from "../support/actions.ts";

let app: TestApp;
let fixtures: ActionFixtures;
beforeAll(async () => {
  app = await startTestApp();
  fixtures = new ActionFixtures(app);
});
afterAll(() => app.close());

describe("an environment action", () => {
  it.each([
    [
      "name",
      { name: "-x" },
      "name",
      "String should match pattern '^[a-zA-Z0-9][a-zA-Z0-9\\-_\\.~/]*$' [input: -x]",
    ],
    [
      "name",
      { name: "" },
      "name",
      "String should match pattern '^[a-zA-Z0-9][a-zA-Z0-9\\-_\\.~/]*$' [input: ]",
    ],
    ["name", { name: undefined }, "name", "Field required [input: None]"],
    ["name", { name: null }, "name", "Input should be a valid string [input: None]"],
    [
      "name",
      { name: "x".repeat(513) },
      "name",
      `String should have at most 512 characters [input: ${"x".repeat(200)}…]`,
    ],
    ["type", { type: "flow" }, "type", "Input should be 'env' [input: flow]"],
    ["unknown key", { nam: 1 }, "nam", "Extra inputs are not permitted [input: ***]"],
    ["environments", { environments: [] }, "environments", "List should have at least 1 item [input: []]"],
    ["environments", { environments: "prod" }, "environments", "Input should be a valid list [input: prod]"],
    ["environments", { environments: undefined }, "environments", "Field required [input: None]"],
    ["environments", { environments: [1] }, "environments[0]", "Input should be a valid string [input: 1]"],
    [
      "environments",
      { environments: ["prod", "prod"] },
      "environments[1]",
      "List should not contain the same item twice [input: prod]",
    ],
    ["triggers", { triggers: [] }, "triggers", "List should have at least 1 item [input: []]"],
    ["triggers", { triggers: undefined }, "triggers", "Field required [input: None]"],
    [
      "triggers",
      { triggers: ["ON_STARTED_TRAIL"] },
      "triggers[0]",
      "Input should be 'ON_STARTED_ARTIFACT', 'ON_EXITED_ARTIFACT', 'ON_SCALED_ARTIFACT', 'ON_ALLOWED_ARTIFACT', 'ON_NON_COMPLIANT_ENV', 'ON_COMPLIANT_ENV' or 'ON_SILENT_ENV' [input: ON_STARTED_TRAIL]",
    ],
    [
      "triggers",
      { triggers: ["ON_COMPLIANT_ENV", "ON_COMPLIANT_ENV"] },
      "triggers[1]",
      "List should not contain the same item twice [input: ON_COMPLIANT_ENV]",
    ],
    ["targets", { targets: undefined }, "targets", "Field required [input: None]"],
    ["targets", { targets: [] }, "targets", "List should have at least 1 item [input: ***]"],
    ["targets", { targets: webhook }, "targets", "Input should be a valid list [input: ***]"],
    [
      "targets",
      { targets: Array.from({ length: 21 }, () => webhook) },
      "targets",
      "List should have at most 20 items [input: ***]",
    ],
    [
      "target",
      { targets: [webhook.webhook] },
      "targets[0]",
      "Input should be a valid dictionary or object to extract fields from [input: ***]",
    ],
    [
      "target type",
      { targets: [{ webhook: webhook.webhook }] },
      "targets[0].type",
      "Field required [input: None]",
    ],
    [
      "target type",
      { targets: [{ ...webhook, type: "TEAMS" }] },
      "targets[0].type",
      "Input should be 'WEBHOOK', 'SLACK' or 'EMAIL' [input: TEAMS]",
    ],
    [
      "key of a target",
      { targets: [{ ...webhook, x: 1 }] },
      "targets[0].x",
      "Extra inputs are not permitted [input: ***]",
    ],
    [
      "key of another type",
      { targets: [{ ...webhook, emails: [] }] },
      "targets[0].emails",
      "Extra inputs are not permitted [input: ***]",
    ],
    ["webhook", { targets: [{ type: "SLACK" }] }, "targets[0].webhook", "Field required [input: None]"],
    [
      "webhook",
      { targets: [{ type: "WEBHOOK", webhook: `https://example.com/${"x".repeat(2048)}` }] },
      "targets[0].webhook",
      "String should have at most 2048 characters [input: ***]",
    ],
    [
      "webhook",
      { targets: [webhook, { type: "SLACK", webhook: "" }] },
      "targets[1].webhook",
      "Input should be a valid URL starting with http:// or https:// [input: ]",
    ],
    [
      "webhook",
      { targets: [{ type: "WEBHOOK", webhook: "https://u:p@example.com/x" }] },
      "targets[0].webhook",
      "URL should not contain credentials [input: https://example.com/***]",
    ],
    [
      "webhook",
      { targets: [{ type: "WEBHOOK", webhook: "http://0x7f.1/t0ken" }] },
      "targets[0].webhook",
      "URL should not lead to a private network [input: http://127.0.0.1/***]",
    ],
    [
      "payload version",
      { targets: [{ ...webhook, payload_version: "2.0" }] },
      "targets[0].payload_version",
      "Input should be '1.0' [input: 2.0]",
    ],
    [
      "context",
      { targets: [{ ...webhook, type: "SLACK", context: { channel_id: "C", channel_name: "n" } }] },
      "targets[0].context.team_id",
      "Field required [input: None]",
    ],
    [
      "e-mail",
      { targets: [{ type: "EMAIL", emails: ["a@example.com", "b@"] }] },
      "targets[0].emails[1]",
      "value is not a valid email address [input: b@]",
    ],
    [
      "e-mail with a line break",
      { targets: [{ type: "EMAIL", emails: ["a@example.com\nBcc: b@example.com"] }] },
      "targets[0].emails[0]",
      "value is not a valid email address [input: a@example.com\nBcc: b@example.com]",
    ],
    [
      "e-mail",
      { targets: [{ type: "EMAIL", emails: [] }] },
      "targets[0].emails",
      "List should have at least 1 item [input: []]",
    ],
    [
      "e-mail",
      { targets: [{ type: "EMAIL", emails: [`${"x".repeat(250)}@example.com`] }] },
      "targets[0].emails[0]",
      `String should have at most 254 characters [input: ${"x".repeat(200)}…]`,
    ],
    [
      "delivery times",
      { targets: [{ ...webhook, last_success_at: "now" }] },
      "targets[0].last_success_at",
      "Input should be a valid number, unable to parse string as a number [input: ***]",
    ],
  ])("refuses a wrong %s", async (_, change, location, text) => {
    const { org } = await fixtures.org();
    const answer = await putEnv(org, change);
    expect(answer.status).toBe(400);
    expect(answer.json).toEqual({ message: "Input payload validation failed", errors: { [location]: text } });
    expect((await org.reader.get(`/actions/${org.name}`)).json).toEqual([]);
  });

  it("refuses no body, null and what is no object", async () => {
    const { org } = await fixtures.org();
    for (const payload of ["", "null", "[]", '"x"', "{"]) {
      const answer = await org.member.request("PUT", `/actions/${org.name}/environments`, {
        payload,
        headers: { "content-type": "application/json" },
      });
      expect([payload, answer.status]).toEqual([payload, 400]);
    }
  });
});

describe("a flow action", () => {
  it.each([
    [{ type: "env" }, "type", "Input should be 'flow' [input: env]"],
    [
      { triggers: ["ON_COMPLIANT_ENV"] },
      "triggers[0]",
      "Input should be 'ON_STARTED_TRAIL', 'ON_ATTESTED_PROVENANCE', 'ON_ATTESTATION', 'ON_APPROVAL' or 'ON_RELEASE' [input: ON_COMPLIANT_ENV]",
    ],
    [{ flows: [] }, "flows", "List should have at least 1 item [input: []]"],
    [{ environments: ["prod"] }, "environments", "Extra inputs are not permitted [input: ***]"],
    [
      { targets: [{ type: "WEBHOOK", webhook: "http://[::1]/x" }] },
      "targets[0].webhook",
      "URL should not lead to a private network [input: http://[::1]/***]",
    ],
  ])("refuses %j", async (change, location, text) => {
    const { org } = await fixtures.org();
    const answer = await org.member.put(`/actions/${org.name}/flows`, flowAction(change));
    expect(answer.json).toEqual({ message: "Input payload validation failed", errors: { [location]: text } });
  });
});
