import type pg from "pg";
import { afterEach, describe, expect, inject, it } from "vitest";

import { createLanes, type Lanes } from "./lanes.ts";

const connection = inject("postgres");
const client: pg.ClientConfig =
  typeof connection === "string" ? { connectionString: connection } : { ...connection };

const opened: Lanes[] = [];
const errors: Error[] = [];
function lanesOf(count: number, config = client): Lanes {
  const lanes = createLanes({ client: config, count, onConnectionError: (error) => errors.push(error) });
  opened.push(lanes);
  return lanes;
}

afterEach(async () => {
  await Promise.all(opened.splice(0).map((lanes) => lanes.close()));
  errors.length = 0;
});

const own = { name: "own", text: "select pg_backend_pid() as pid, $1::int as asked" };

async function ask(lanes: Lanes, asked: number): Promise<{ pid: number; asked: number }> {
  const { rows } = await lanes.run({ ...own, values: [asked] });
  return rows[0] as { pid: number; asked: number };
}

describe("createLanes", () => {
  it("answers each of many statements at once with its own result, on no more connections than said", async () => {
    const lanes = lanesOf(2);
    const numbers = Array.from({ length: 500 }, (_, index) => index);
    const answers = await Promise.all(numbers.map((number) => ask(lanes, number)));
    expect(answers.map(({ asked }) => asked)).toEqual(numbers);
    expect(new Set(answers.map(({ pid }) => pid)).size).toBe(2);
  });

  it("fails the statement at fault and no other", async () => {
    const lanes = lanesOf(1);
    const [before, failed, after] = await Promise.allSettled([
      ask(lanes, 1),
      lanes.run({ name: "fault", text: "select 1 / $1::int as x", values: [0] }),
      ask(lanes, 2),
    ]);
    expect(before).toMatchObject({ status: "fulfilled", value: { asked: 1 } });
    expect(failed).toMatchObject({ status: "rejected", reason: { code: "22012" } });
    expect(after).toMatchObject({ status: "fulfilled", value: { asked: 2 } });
    const [answer] = (await lanes.run({ name: "fault", text: "select 1 / $1::int as x", values: [1] })).rows;
    expect(answer).toEqual({ x: 1 });
  });

  it("says where a failed statement was asked for", async () => {
    const failed = lanesOf(1).run({ text: "select 1 / 0", values: [] });
    await expect(failed).rejects.toMatchObject({ stack: expect.stringContaining("lanes.ts") as string });
  });

  it("leaves a slow statement its connection while the other is free", async () => {
    const lanes = lanesOf(2);
    let slowIsDone = false;
    const slow = lanes.run({ text: "select pg_sleep(0.5)", values: [] }).then(() => void (slowIsDone = true));
    for (let count = 0; count < 20; count += 1) await ask(lanes, count);
    expect(slowIsDone).toBe(false);
    await slow;
  });

  it("opens a connection anew when it broke", async () => {
    const lanes = lanesOf(1);
    const { pid } = await ask(lanes, 1);
    await lanes
      .run({ text: "select pg_terminate_backend($1::int)", values: [pid] })
      .catch((error: unknown) => error);
    await expect.poll(() => ask(lanes, 2).catch(() => undefined)).toMatchObject({ asked: 2 });
    expect((await ask(lanes, 3)).pid).not.toBe(pid);
    expect(errors.length).toBeGreaterThan(0);
  });

  it("tries to connect with each statement while the server is away", async () => {
    const lanes = lanesOf(1, { host: "127.0.0.1", port: 1, user: "nobody", database: "none" });
    for (const asked of [1, 2])
      await expect(ask(lanes, asked)).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });

  it("ends after what is under way", async () => {
    const lanes = lanesOf(1);
    const answer = lanes.run({ text: "select pg_sleep(0.1), 7 as x", values: [] });
    await ask(lanes, 1);
    await lanes.close();
    expect((await answer).rows).toMatchObject([{ x: 7 }]);
  });
});
