import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startTestApp, type TestApp } from "../../test/support/app.ts";
import { checkSecretKey, ForeignSecretsError } from "./secret-key.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

describe("checkSecretKey", () => {
  it("takes the first key, the same one again, and no other", async () => {
    const { pool } = app.deps.db;
    await Promise.all([checkSecretKey(pool, "one"), checkSecretKey(pool, "one")]);
    await checkSecretKey(pool, "one");
    await expect(checkSecretKey(pool, "other")).rejects.toThrow(ForeignSecretsError);
  });
});
