import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { startTestApp, type TestApp } from "../support/app.ts";
import { signIn } from "../support/sessions.ts";

let app: TestApp;
beforeEach(async () => {
  // The server writes uses down each half minute.
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  app = await startTestApp();
});
afterEach(async () => {
  vi.useRealTimers();
  await app.close();
});

it("notes requests with a session as uses of the session and of its key, each half minute", async () => {
  const user = await app.user();
  const browser = await signIn(app, user.key);
  const lastUses = async (): Promise<{ key: number; session: number }> => {
    const { rows } = await app.deps.db.pool.query(
      `select extract(epoch from k.last_used_at)::float8 as key, extract(epoch from s.last_used_at)::float8 as session
       from sessions s join api_keys k on k.id = s.api_key_id where s.user_id = $1`,
      [user.id],
    );
    return rows[0];
  };
  const begun = (await lastUses()).session;
  app.clock.advance(3600);
  const now = app.clock.now();
  for (let index = 0; index < 5; index += 1) await browser.get("/user");
  expect(await lastUses()).toEqual({ key: null, session: begun });
  vi.advanceTimersByTime(30_000);
  await vi.waitFor(async () => expect((await lastUses()).session).toBeGreaterThanOrEqual(now));
  expect((await lastUses()).key).toBeGreaterThanOrEqual(now);
});
