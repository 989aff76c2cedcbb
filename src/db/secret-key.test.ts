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
    const { db } = app.deps;
    await Promise.all([checkSecretKey(db, "one"), checkSecretKey(db, "one")]);
    await checkSecretKey(db, "one");
    await expect(checkSecretKey(db, "other")).rejects.toThrow(ForeignSecretsError);
  });
});
