import type pg from "pg";
import { afterEach, describe, expect, inject, it } from "vitest";

import { createPipelinedConnections, type PipelinedConnections } from "./pipelined-connections.ts";

const connection = inject("postgres");
const client: pg.ClientConfig =
  typeof connection === "string" ? { connectionString: connection } : { ...connection };

const opened: PipelinedConnections[] = [];
const errors: Error[] = [];
function connectionsOf(count: number, config = client): PipelinedConnections {
  const connections = createPipelinedConnections({
    client: config,
    count,
    onConnectionError: (error) => errors.push(error),
  });
  opened.push(connections);
  return connections;
}

afterEach(async () => {
  await Promise.all(opened.splice(0).map((connections) => connections.close()));
  errors.length = 0;
});

const own = { name: "own", text: "select pg_backend_pid() as pid, $1::int as asked" };

async function ask(
  connections: PipelinedConnections,
  asked: number,
): Promise<{ pid: number; asked: number }> {
  const { rows } = await connections.run({ ...own, values: [asked] });
  return rows[0] as { pid: number; asked: number };
}

describe("createPipelinedConnections", () => {
  it("answers each of many statements at once with its own result, on no more connections than said", async () => {
    const connections = connectionsOf(2);
    const numbers = Array.from({ length: 500 }, (_, index) => index);
    const answers = await Promise.all(numbers.map((number) => ask(connections, number)));
    expect(answers.map(({ asked }) => asked)).toEqual(numbers);
    expect(new Set(answers.map(({ pid }) => pid)).size).toBe(2);
  });

  it("fails the statement at fault and no other", async () => {
    const connections = connectionsOf(1);
    const [before, failed, after] = await Promise.allSettled([
      ask(connections, 1),
      connections.run({ name: "fault", text: "select 1 / $1::int as x", values: [0] }),
      ask(connections, 2),
    ]);
    expect(before).toMatchObject({ status: "fulfilled", value: { asked: 1 } });
    expect(failed).toMatchObject({ status: "rejected", reason: { code: "22012" } });
    expect(after).toMatchObject({ status: "fulfilled", value: { asked: 2 } });
    const [answer] = (await connections.run({ name: "fault", text: "select 1 / $1::int as x", values: [1] }))
      .rows;
    expect(answer).toEqual({ x: 1 });
  });

  it("says where a failed statement was asked for", async () => {
    const failed = connectionsOf(1).run({ text: "select 1 / 0", values: [] });
    await expect(failed).rejects.toMatchObject({
      stack: expect.stringContaining("pipelined-connections.ts") as string,
    });
  });

  it("leaves a slow statement its connection while the other is free", async () => {
    const connections = connectionsOf(2);
    let slowIsDone = false;
    const slow = connections
      .run({ text: "select pg_sleep(0.5)", values: [] })
      .then(() => void (slowIsDone = true));
    for (let count = 0; count < 20; count += 1) await ask(connections, count);
    expect(slowIsDone).toBe(false);
    await slow;
  });

  it("opens a connection anew when it broke", async () => {
    const connections = connectionsOf(1);
    const { pid } = await ask(connections, 1);
    await connections
      .run({ text: "select pg_terminate_backend($1::int)", values: [pid] })
      .catch((error: unknown) => error);
    await expect.poll(() => ask(connections, 2).catch(() => undefined)).toMatchObject({ asked: 2 });
    expect((await ask(connections, 3)).pid).not.toBe(pid);
    expect(errors.length).toBeGreaterThan(0);
  });

  it("tries to connect with each statement while the server is away", async () => {
    const connections = connectionsOf(1, { host: "127.0.0.1", port: 1, user: "nobody", database: "none" });
    for (const asked of [1, 2])
      await expect(ask(connections, asked)).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });

  it("ends after what is under way", async () => {
    const connections = connectionsOf(1);
    const answer = connections.run({ text: "select pg_sleep(0.1), 7 as x", values: [] });
    await ask(connections, 1);
    await connections.close();
    expect((await answer).rows).toMatchObject([{ x: 7 }]);
  });
});
