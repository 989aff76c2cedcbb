import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingHttpHeaders } from "node:http";
import { request, type RequestOptions } from "node:https";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { connect as connectTls, type ConnectionOptions } from "node:tls";
import { readFileSync } from "node:fs";
import { X509Certificate } from "node:crypto";

import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";

import { startTestApp, type TestApp, type TestUser } from "../support/app.ts";
import { mistakesOf } from "../support/config.ts";
import { certificateFile, type Identity } from "../support/receiver.ts";
import { listen } from "../support/sockets.ts";

const keyFile = (identity: Identity): string => certificateFile(identity).replace(".cert.", ".key.");
const pem = (file: string): string => readFileSync(file, "utf8");
const both = pem(certificateFile("trusted")) + pem(certificateFile("unknown"));

/** So often the server looks at its files, or oftener. */
const lookEveryMs = 2_000;

/** A server that speaks TLS, with files of its own. */
class Site {
  readonly folder = mkdtempSync(join(tmpdir(), "waybill-tls-"));
  app!: TestApp;
  port!: number;

  async start(environment: Record<string, string> = {}): Promise<void> {
    this.put("trusted");
    this.app = await startTestApp({
      WAYBILL_PUBLIC_URL: "https://waybill.test",
      WAYBILL_TLS_CERT: join(this.folder, "cert.pem"),
      WAYBILL_TLS_KEY: join(this.folder, "key.pem"),
      ...environment,
    });
    this.port = await listen(this.app);
  }

  put(identity: Identity): void {
    copyFileSync(certificateFile(identity), join(this.folder, "cert.pem"));
    copyFileSync(keyFile(identity), join(this.folder, "key.pem"));
  }

  async stop(): Promise<void> {
    await this.app.close();
    rmSync(this.folder, { recursive: true });
  }

  ask(path: string, options: RequestOptions & { body?: unknown } = {}) {
    const { body, ...others } = options;
    return new Promise<{ status: number; headers: IncomingHttpHeaders; text: string }>((resolve, reject) => {
      const sent = request(
        { port: this.port, host: "localhost", family: 4, path, ca: both, agent: false, ...others },
        (answer) => {
          void text(answer).then((all) =>
            resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text: all }),
          );
        },
      );
      sent.once("error", reject);
      sent.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }

  /** Opens a connection. @returns what was agreed upon, and the certificate that was shown. */
  handshake(options: ConnectionOptions = {}) {
    return new Promise<{ protocol: string | null; alpn: string | false | null; fingerprint: string }>(
      (resolve, reject) => {
        const socket = connectTls({
          port: this.port,
          host: "127.0.0.1",
          servername: "localhost",
          ca: both,
          ...options,
        });
        socket.once("error", reject);
        socket.once("secureConnect", () => {
          const { fingerprint256 } = socket.getPeerCertificate();
          resolve({ protocol: socket.getProtocol(), alpn: socket.alpnProtocol, fingerprint: fingerprint256 });
          socket.destroy();
        });
      },
    );
  }

  async metric(name: string): Promise<number> {
    const all = await this.app.deps.metrics.registry.metrics();
    return Number(new RegExp(`^${name} (.*)$`, "m").exec(all)?.[1]);
  }

  async until(condition: () => Promise<boolean>): Promise<void> {
    const deadline = Date.now() + 25_000;
    while (!(await condition())) {
      if (Date.now() > deadline) throw new Error("it never was so");
      vi.advanceTimersByTime(lookEveryMs);
      await delay(50);
    }
  }
}

const shown = (identity: Identity): string =>
  new X509Certificate(pem(certificateFile(identity))).fingerprint256;

describe("TLS", () => {
  const site = new Site();
  beforeAll(async () => {
    // The server looks at its files every so often.
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    await site.start();
  });
  afterAll(async () => {
    await site.stop();
    vi.useRealTimers();
  });

  it("carries HTTP/1.1, from version 1.2 on, and says so to browsers", async () => {
    const { status, headers } = await site.ask("/live");
    expect([status, headers["strict-transport-security"]]).toEqual([200, "max-age=31536000"]);
    const agreed = await site.handshake({ ALPNProtocols: ["h2", "http/1.1"] });
    expect([agreed.protocol, agreed.alpn]).toEqual(["TLSv1.3", "http/1.1"]);
    expect((await site.handshake({ maxVersion: "TLSv1.2" })).protocol).toBe("TLSv1.2");
    const old = { minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" } as const;
    await expect(site.handshake(old)).rejects.toThrow(/protocol|EPROTO|disconnected/i);
  });

  it("answers nothing to who speaks plain HTTP, and goes on", async () => {
    const plain = connect(site.port, "127.0.0.1");
    let said = "";
    plain.on("error", () => {}).on("data", (bytes: Buffer) => (said += bytes.toString("latin1")));
    plain.write("GET /live HTTP/1.1\r\nHost: x\r\n\r\n");
    await new Promise((resolve) => plain.once("close", resolve));
    expect(said).not.toContain("HTTP/");
    expect((await site.ask("/live")).status).toBe(200);
  });

  it(
    "replaces the certificate when its files change, keeps it when they are wrong, and tells",
    { timeout: 90_000 },
    async () => {
      expect((await site.handshake()).fingerprint).toBe(shown("trusted"));
      const endsAt = Date.parse(new X509Certificate(pem(certificateFile("trusted"))).validTo) / 1000;
      expect(await site.metric("waybill_tls_certificate_expiry_timestamp_seconds")).toBe(endsAt);
      const kept = connectTls({ port: site.port, host: "127.0.0.1", servername: "localhost", ca: both });
      await new Promise((resolve) => kept.once("secureConnect", resolve));

      copyFileSync(keyFile("unknown"), join(site.folder, "key.pem"));
      await site.until(async () => (await site.metric("waybill_tls_certificate_refused")) === 1);
      expect((await site.handshake()).fingerprint).toBe(shown("trusted"));
      expect(site.app.logged()).toContain("is not the key of the first certificate in");

      site.put("unknown");
      await site.until(async () => (await site.handshake()).fingerprint === shown("unknown"));
      expect(await site.metric("waybill_tls_certificate_refused")).toBe(0);

      writeFileSync(join(site.folder, "cert.pem"), "nothing");
      await site.until(async () => (await site.metric("waybill_tls_certificate_refused")) === 1);
      expect((await site.handshake()).fingerprint).toBe(shown("unknown"));
      expect(site.app.logged().split("the new certificate is refused")).toHaveLength(3);

      const { config } = site.app.deps;
      await expect(site.app.server.reload({ ...config, logLevel: "debug" })).rejects.toThrow(
        /cert\.pem holds no certificate in PEM$/,
      );
      site.put("trusted");
      (await site.app.server.reload(config))();
      expect((await site.handshake()).fingerprint).toBe(shown("trusted"));

      // Who was connected before is not disturbed.
      kept.write("GET /live HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
      expect(await text(kept)).toMatch(/^HTTP\/1\.1 200/);
    },
  );
});

describe("client certificates", () => {
  const metricsToken = "token-of-those-who-watch";
  const site = new Site();
  let user: TestUser;
  const mine = { cert: pem(certificateFile("trusted")), key: pem(keyFile("trusted")) };
  const foreign = { cert: pem(certificateFile("unknown")), key: pem(keyFile("unknown")) };
  beforeAll(async () => {
    await site.start({
      WAYBILL_TLS_CLIENT_CA: certificateFile("trusted"),
      WAYBILL_METRICS_TOKEN: metricsToken,
    });
    user = await site.app.user();
  });
  afterAll(() => site.stop());

  it("are needed for API keys, and only for them", async () => {
    const headers = { authorization: `Bearer ${user.key}` };
    const refused = '{"message":"API keys need a client certificate here"}';
    expect((await site.ask("/api/v2/user", { headers, ...mine })).status).toBe(200);
    for (const shownOne of [{}, foreign]) {
      const { status, text: said } = await site.ask("/api/v2/user", { headers, ...shownOne });
      expect([status, said]).toEqual([401, refused]);
    }
    expect((await site.ask("/live")).status).toBe(200);
    expect((await site.ask("/api/v2/sign-in/methods")).status).toBe(200);
  });

  it("are needed on whichever route a key comes, and not for the token for metrics", async () => {
    const root = await site.app.user({ instance_admin: true });
    for (const path of ["/health", "/api/v2/health"]) {
      const headers = { authorization: `Bearer ${root.key}` };
      expect([path, (await site.ask(path, { headers, ...mine })).status]).toEqual([path, 200]);
      expect([path, (await site.ask(path, { headers })).status]).toEqual([path, 401]);
      const watching = { authorization: `Bearer ${metricsToken}` };
      expect([path, (await site.ask(path, { headers: watching })).status]).toEqual([path, 200]);
    }
  });

  it("are needed to sign in with a key; a session then goes without", async () => {
    const origin = { origin: "https://waybill.test", "sec-fetch-site": "same-origin" };
    const signIn = (certificate: object) =>
      site.ask("/api/v2/user/sessions", {
        method: "POST",
        headers: { ...origin, "content-type": "application/json" },
        body: { api_key: user.key },
        ...certificate,
      });
    expect((await signIn({})).status).toBe(401);
    const { status, headers } = await signIn(mine);
    expect(status).toBe(201);
    const cookie = headers["set-cookie"]![0]!.split(";")[0]!;
    expect((await site.ask("/api/v2/user", { headers: { ...origin, cookie } })).status).toBe(200);
  });

  it("are not replaced by a session of TLS that is resumed without one", async () => {
    const session = await new Promise<Buffer>((resolve, reject) => {
      const socket = connectTls({ port: site.port, host: "127.0.0.1", servername: "localhost", ca: both });
      socket.once("error", reject).once("session", (ticket) => {
        resolve(ticket);
        socket.destroy();
      });
      socket.resume();
    });
    const answer = await new Promise<string>((resolve, reject) => {
      const options = { port: site.port, host: "127.0.0.1", servername: "localhost", ca: both, session };
      const socket = connectTls(options, () => {
        expect(socket.isSessionReused()).toBe(true);
        socket.write(
          `GET /api/v2/user HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${user.key}\r\nConnection: close\r\n\r\n`,
        );
        void text(socket).then(resolve, reject);
      });
      socket.once("error", reject);
    });
    expect(answer).toMatch(/^HTTP\/1\.1 401/);
  });
});

describe("settings that would let secrets go in the clear", () => {
  const signIn = {
    WAYBILL_OIDC_ISSUER: "https://id.example.org",
    WAYBILL_OIDC_CLIENT_ID: "waybill",
    HOST: "0.0.0.0",
  };
  const files = { WAYBILL_TLS_CERT: "cert.pem", WAYBILL_TLS_KEY: "key.pem" };

  it("are refused beyond this machine, unless something says that they do not", () => {
    const [mistake = "", ...others] = mistakesOf(signIn);
    expect(mistake).toMatch(
      /^HOST must be an address of this machine alone: people sign in .*WAYBILL_TLS_CERT/,
    );
    expect(others).toEqual([]);
    for (const better of [
      files,
      { HOST: "127.0.0.1" },
      { WAYBILL_TRUSTED_PROXIES: "10.0.0.0/8" },
      { WAYBILL_INSECURE_HTTP: "1" },
    ])
      expect(mistakesOf({ ...signIn, ...better })).toEqual([]);
    expect(mistakesOf({ HOST: "0.0.0.0" })).toEqual([]);
  });

  it("are told where files go together", () => {
    expect(mistakesOf({ WAYBILL_TLS_CERT: "cert.pem" })).toEqual([
      "WAYBILL_TLS_KEY must be set, because WAYBILL_TLS_CERT is",
    ]);
    expect(mistakesOf({ WAYBILL_TLS_CLIENT_CA: "ca.pem" })).toHaveLength(2);
    expect(mistakesOf({ ...files, WAYBILL_PUBLIC_URL: "http://waybill.example.org" })).toEqual([
      "WAYBILL_PUBLIC_URL must start with https://, because WAYBILL_TLS_CERT is set",
    ]);
  });
});
