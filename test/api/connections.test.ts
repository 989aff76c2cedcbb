import { setTimeout as delay } from "node:timers/promises";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { connectionLimit, Connections } from "../../src/http/connections.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { RawConnection } from "../support/raw-connection.ts";
import { listen } from "../support/sockets.ts";

let app: TestApp;
let org: TestOrg;
let port: number;
beforeAll(async () => {
  app = await startTestApp({ WAYBILL_MAX_CONNECTIONS: "8", WAYBILL_MAX_PIPELINED: "16" });
  org = await app.org();
  port = await listen(app);
});
afterAll(() => app.close());

const live = "GET /live HTTP/1.1\r\nHost: x\r\n\r\n";

async function metric(name: string): Promise<number> {
  const text = await app.deps.metrics.registry.metrics();
  const line = text.split("\n").find((one) => one.startsWith(`${name} `));
  return Number(line?.split(" ").at(-1));
}

/** The server learns of the end of a connection a little later than its client. */
async function connectionsAre(count: number): Promise<void> {
  const deadline = Date.now() + 20_000;
  while ((await metric("waybill_connections")) !== count) {
    if (Date.now() > deadline) throw new Error(`connections never were ${count}`);
    await delay(5);
  }
}

describe("connections", () => {
  it("past their limit are told so, and those there are go on", async () => {
    const all = Array.from({ length: 8 }, () => new RawConnection(port, live));
    for (const connection of all) expect((await connection.answer()).status).toBe(200);
    const refused = await new RawConnection(port, live).end();
    expect([refused.status, JSON.parse(refused.body)]).toEqual([
      503,
      { message: "The server has too many connections, try again" },
    ]);
    expect(refused.headers).toMatchObject({
      connection: "close",
      "content-type": "application/json; charset=utf-8",
      "retry-after": "2",
    });
    expect(await metric('waybill_refused_connections_total{reason="all"}')).toBe(1);
    await connectionsAre(8);
    for (const connection of all) connection.write(live);
    all[0]!.destroy();
    await all[0]!.closed;
    await connectionsAre(7);
    const next = new RawConnection(port, live);
    expect((await next.answer()).status).toBe(200);
    for (const connection of [next, ...all]) connection.destroy();
    await connectionsAre(0);
  });

  it("are counted by address, and IPv6 by network, but neither on this machine nor of trusted proxies", () => {
    const connections = new Connections({
      all: 100,
      perAddress: 2,
      trust: (address) => address === "192.0.2.200",
    });
    const add = (...addresses: string[]) => addresses.map((address) => connections.add(address));
    expect(add("192.0.2.1", "192.0.2.1", "192.0.2.1", "192.0.2.2")).toEqual([
      undefined,
      undefined,
      "address",
      undefined,
    ]);
    expect(add("2001:db8::1", "2001:db8::2", "2001:db8::3", "2001:db8:0:1::1")).toEqual([
      undefined,
      undefined,
      "address",
      undefined,
    ]);
    expect(add("127.0.0.1", "127.0.0.1", "127.0.0.1", "::1", "::1", "::1")).toEqual(
      Array.from({ length: 6 }, () => undefined),
    );
    expect(add("192.0.2.200", "192.0.2.200", "192.0.2.200")).toEqual([undefined, undefined, undefined]);
    for (const address of ["192.0.2.1", "192.0.2.1"]) connections.remove(address);
    expect(add("192.0.2.1")).toEqual([undefined]);
    expect(
      new Connections({ all: 1, perAddress: undefined, trust: () => false }).add("192.0.2.1"),
    ).toBeUndefined();
  });

  it("are as many as descriptors allow", () => {
    expect(connectionLimit(undefined, undefined)).toBe(4096);
    expect(connectionLimit(9000, undefined)).toBe(9000);
    expect(connectionLimit(undefined, 20_000)).toBe(4096);
    expect(connectionLimit(9000, 20_000)).toBe(9000);
    expect(connectionLimit(undefined, 1024)).toBe(704);
    expect(connectionLimit(9000, 1024)).toBe(704);
    expect(connectionLimit(undefined, 256)).toBe(64);
    expect(connectionLimit(undefined, 64)).toBe(8);
  });
});

describe("requests that do not wait for answers", () => {
  const get = (more = ""): string =>
    `GET /api/v2/environments/${org.name} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${org.reader.key}\r\n${more}\r\n`;

  it("are all answered while they are few", async () => {
    const connection = new RawConnection(port, get().repeat(15) + get("Connection: close\r\n"));
    const { text } = await connection.end();
    expect(text.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(16);
  });

  it("are refused in their order when they are many", async () => {
    const { text } = await new RawConnection(port, get().repeat(2000)).end();
    const statuses = [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => match[1]);
    expect(statuses).toEqual([...Array.from({ length: 16 }, () => "200"), "503"]);
    expect(text).toMatch(/retry-after: /i);
    expect(await metric("waybill_refused_pipelined_requests_total")).toBeGreaterThan(0);
    expect((await org.reader.get(`/environments/${org.name}`)).status).toBe(200);
  });
});

describe("large heads", () => {
  it("of thousands of parameters cost little, and get a plain answer", async () => {
    const many = Array.from({ length: 7_000 }, () => "a").join("&");
    const path = `/api/v2/environments/${org.name}?${many}`;
    const request = `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${org.reader.key}\r\nConnection: close\r\n\r\n`;
    const before = process.cpuUsage();
    expect((await new RawConnection(port, request).end()).status).toBe(200);
    const { user, system } = process.cpuUsage(before);
    expect(user + system).toBeLessThan(500_000);
  });

  it("of ten thousand named parameters are refused", async () => {
    const many = Array.from({ length: 10_000 }, (_, index) => `p${index}=1`).join("&");
    const answer = await new RawConnection(port, `GET /live?${many} HTTP/1.1\r\nHost: x\r\n\r\n`).end();
    expect([answer.status, JSON.parse(answer.body)]).toEqual([
      431,
      { message: "Request line and headers are too large" },
    ]);
  });
});
