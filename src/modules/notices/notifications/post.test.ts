import type { lookup as systemLookup } from "node:dns";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { postJson, type PostOptions, TargetRefused } from "./post.ts";

let server: Server;
let port: number;
const seen: string[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    seen.push(`${request.headers.host ?? ""} ${request.url ?? ""}`);
    request.resume();
    if (request.url === "/moved") response.writeHead(302, { location: "/elsewhere" }).end();
    else if (request.url === "/silent") return;
    else if (request.url === "/endless") {
      response.writeHead(200);
      const more = (): void => void (response.destroyed || response.write(Buffer.alloc(65_536), more));
      more();
    } else if (request.url === "/stuck") response.writeHead(503).write("wait");
    else response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** Makes a resolver that has these addresses for every name, and appends the names to a list. */
function resolving(addresses: string[], names: string[] = []): typeof systemLookup {
  return ((name: string, _options: unknown, done: (error: null, all: unknown) => void) => {
    names.push(name);
    done(
      null,
      addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
    );
  }) as unknown as typeof systemLookup;
}

function post(url: string, options: Partial<PostOptions> = {}): Promise<number> {
  return postJson(url, '{"a":1}', {}, { allowPrivate: false, timeoutMs: 5000, ...options });
}

describe("private networks", () => {
  it.each([
    ["http://127.0.0.1"],
    ["http://[::1]"],
    ["http://[::ffff:127.0.0.1]"],
    ["http://0x7f.1"],
    ["http://2130706433"],
    ["http://169.254.169.254"],
    ["http://10.0.0.1"],
    ["http://localhost"],
    ["http://kube.svc"],
  ])("%s is refused without a connection", async (host) => {
    const before = seen.length;
    await expect(post(`${host}:${port}/`)).rejects.toThrow(TargetRefused);
    expect(seen.length).toBe(before);
  });

  it.each([[["127.0.0.1"]], [["::1"]], [["10.1.2.3", "192.168.0.1"]], [["::ffff:7f00:1"]], [[]]])(
    "a public name that resolves to %j is refused",
    async (addresses) => {
      const before = seen.length;
      const refused = post(`http://hooks.example.com:${port}/`, { lookup: resolving(addresses) });
      await expect(refused).rejects.toThrow(new TargetRefused("Host leads to a private network"));
      expect(seen.length).toBe(before);
    },
  );

  it("is called when the operator allows it, at the address that was looked up once", async () => {
    const names: string[] = [];
    const options = { allowPrivate: true, lookup: resolving(["127.0.0.1"], names) };
    expect(await post(`http://hooks.example.com:${port}/a`, options)).toBe(204);
    expect(names).toEqual(["hooks.example.com"]);
    expect(seen.at(-1)).toBe(`hooks.example.com:${port} /a`);
  });
});

describe("answers", () => {
  const own = { allowPrivate: true };

  it("that lead elsewhere are not followed", async () => {
    const before = seen.length;
    expect(await post(`http://127.0.0.1:${port}/moved`, own)).toBe(302);
    expect(seen.length).toBe(before + 1);
  });

  it("that do not come are not waited for", async () => {
    const slow = post(`http://127.0.0.1:${port}/silent`, { ...own, timeoutMs: 100 });
    await expect(slow).rejects.toMatchObject({ code: "ABORT_ERR" });
  });

  it("that do not end are cut off, and their status counts", async () => {
    expect(await post(`http://127.0.0.1:${port}/endless`, own)).toBe(200);
    expect(await post(`http://127.0.0.1:${port}/stuck`, { ...own, timeoutMs: 200 })).toBe(503);
  });
});

describe("addresses", () => {
  it.each(["file:///etc/passwd", "ftp://example.com", "https://a:b@example.com", "", "x"])(
    "%s is none",
    async (url) => {
      await expect(post(url, { allowPrivate: true })).rejects.toThrow(TargetRefused);
    },
  );
});
