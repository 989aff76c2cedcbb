import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startTestApp, type TestApp } from "../support/app.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

describe("GET /organizations/{org}", () => {
  it("shows a shared organization to every member", async () => {
    const org = await app.org();
    const answer = await org.reader.get(`/organizations/${org.name}`);
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({
      name: org.name,
      kind: "shared",
      experimental_features_enabled: false,
    });
  });

  it("shows a public organization to anybody, with no or bogus credentials", async () => {
    const org = await app.org({ public: true });
    expect((await app.anonymous.get(`/organizations/${org.name}`)).status).toBe(200);
    expect((await app.as("bogus").get(`/organizations/${org.name}`)).status).toBe(200);
  });

  it("denies a foreign organization and one that does not exist alike", async () => {
    const org = await app.org();
    const stranger = await app.user();
    for (const name of [org.name, "no-such-org"]) {
      const answer = await stranger.client.get(`/organizations/${name}`);
      expect(answer.status).toBe(403);
      expect(answer.json).toEqual({ message: `Access denied to /api/v2/organizations/${name}` });
    }
  });

  it("asks for credentials", async () => {
    const org = await app.org();
    const answer = await app.anonymous.get(`/organizations/${org.name}`);
    expect(answer.status).toBe(401);
    expect(answer.headers["www-authenticate"]).toBe("Bearer");
    expect(answer.json).toEqual({ message: "Invalid or missing credentials" });
  });
});
