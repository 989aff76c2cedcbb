import { expect } from "vitest";

import { ActionFixtures, putEnv } from "./actions.ts";
import { startTestApp, type TestApp, type TestOrg } from "./app.ts";
import { forgetAttempts } from "./notifications.ts";
import { type Receiver, startReceiver } from "./receiver.ts";

/** The program beside a web server that it may tell things. */
export interface Notified {
  app: TestApp;
  fixtures: ActionFixtures;
  receiver: Receiver;
  /** The web server as a target. */
  webhook(path?: string): { type: string; webhook: string };
  /** An organization whose environment `prod` is watched by action 1. */
  watched(change?: Record<string, unknown>): Promise<TestOrg>;
  /** Reads rows of the database. */
  rows<Row extends object>(text: string, values?: unknown[]): Promise<Row[]>;
  /** Forgets what earlier tests left. */
  clear(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts both. Call `clear` in `beforeEach` and `stop` in `afterAll`. */
export async function startNotified(): Promise<Notified> {
  const app = await startTestApp({ WAYBILL_ALLOW_PRIVATE_TARGETS: "1" });
  const fixtures = new ActionFixtures(app);
  const receiver = await startReceiver();
  const webhook = (path = "/hook-t0ken") => ({ type: "WEBHOOK", webhook: `${receiver.url}${path}` });
  return {
    app,
    fixtures,
    receiver,
    webhook,
    watched: async (change = {}) => {
      const { org } = await fixtures.org();
      const answer = await putEnv(org, { targets: [webhook()], ...change });
      expect(answer.status, answer.text).toBe(201);
      return org;
    },
    rows: async <Row extends object>(text: string, values: unknown[] = []) =>
      (await app.deps.db.pool.query<Row>(text, values)).rows,
    clear: async () => {
      await forgetAttempts(app);
      receiver.received.length = 0;
      receiver.answer(() => 200);
    },
    stop: async () => {
      await app.close();
      await receiver.stop();
    },
  };
}
