import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeEach, describe, expect, it } from "vitest";

import { ConfigError } from "./config.ts";
import { Settings, takeUp } from "./config-reload.ts";

const folder = mkdtempSync(join(tmpdir(), "waybill-settings-"));
const file = join(folder, "waybill.env");
const set = (...lines: string[]): void => writeFileSync(file, `# Settings\n${lines.join("\n")}\n`);
beforeEach(() => set("WAYBILL_LOG_LEVEL=warn", 'WAYBILL_TRUSTED_PROXIES="loopback, 10.0.0.0/8"', "PORT=81"));
afterAll(() => rmSync(folder, { recursive: true }));

const environment = { WAYBILL_SETTINGS_FILE: file };

describe("the settings file", () => {
  it("is read like the environment, which counts where both say something", () => {
    const { config } = new Settings({ ...environment, PORT: "82" });
    expect([config.logLevel, config.port, config.trustedProxies]).toEqual([
      "warn",
      82,
      ["loopback", "10.0.0.0/8"],
    ]);
  });

  it("is a mistake when it is not there", () => {
    expect(() => new Settings({ WAYBILL_SETTINGS_FILE: join(folder, "none") })).toThrow(
      /^WAYBILL_SETTINGS_FILE cannot be read: ENOENT/,
    );
  });
});

describe("reading settings again", () => {
  it("tells what changed and what needs a restart, which stays as it was", () => {
    const settings = new Settings(environment);
    set("WAYBILL_LOG_LEVEL=debug", "PORT=90", "WAYBILL_FAILED_KEYS_PER_ADDRESS=7");
    const next = settings.reload();
    expect(next.changed).toEqual([
      "WAYBILL_FAILED_KEYS_PER_ADDRESS",
      "WAYBILL_LOG_LEVEL",
      "WAYBILL_TRUSTED_PROXIES",
    ]);
    expect(next.needRestart).toEqual(["PORT"]);
    expect(next.config).toMatchObject({ port: 81, logLevel: "debug", trustedProxies: undefined });
    takeUp(settings.config, next.config);
    expect(settings.config).toMatchObject({ port: 81, logLevel: "debug", failedKeysPerAddress: 7 });
    next.accept();
    expect(settings.reload()).toMatchObject({ changed: [], needRestart: ["PORT"] });
  });

  it("takes what systemd has put from the file into the environment for the file's, and nothing else", () => {
    const settings = new Settings({ ...environment, WAYBILL_LOG_LEVEL: "warn", WAYBILL_BODY_SECONDS: "5" });
    set("WAYBILL_BODY_SECONDS=6", "PORT=81", "WAYBILL_TRUSTED_PROXIES=1");
    const next = settings.reload();
    expect(next.changed).toEqual(["WAYBILL_LOG_LEVEL", "WAYBILL_TRUSTED_PROXIES"]);
    expect(next.config.intake.bodySeconds).toBe(5);
  });

  it("refuses all of it for one mistake, also in what needs a restart", () => {
    const settings = new Settings(environment);
    set("WAYBILL_LOG_LEVEL=debug", "PORT=ninety");
    expect(() => settings.reload()).toThrow(ConfigError);
    set("WAYBILL_LOG_LEVEL=debug", "PORT=81");
    expect(settings.reload().changed).toContain("WAYBILL_LOG_LEVEL");
  });

  it("can replace the files of a certificate, but neither begin nor end with TLS", () => {
    set("WAYBILL_TLS_CERT=a.pem", "WAYBILL_TLS_KEY=a.key");
    const settings = new Settings(environment);
    set("WAYBILL_TLS_CERT=b.pem", "WAYBILL_TLS_KEY=b.key", "WAYBILL_TLS_CLIENT_CA=ca.pem");
    expect(settings.reload()).toMatchObject({
      changed: ["WAYBILL_TLS_CERT", "WAYBILL_TLS_KEY"],
      needRestart: ["WAYBILL_TLS_CLIENT_CA"],
      config: { tls: { cert: "b.pem", key: "b.key", clientCa: undefined } },
    });
    set();
    expect(settings.reload()).toMatchObject({
      changed: [],
      needRestart: ["WAYBILL_TLS_CERT", "WAYBILL_TLS_KEY"],
    });
  });
});
