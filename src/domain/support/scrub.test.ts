import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { scrubLogLine } from "./log-lines.ts";
import { shownMetrics } from "./metrics-text.ts";
import { isSecretName, knownTexts, scrub, scrubValue, withoutKnown } from "./scrub.ts";

const uuid = "0190d3b0-0000-7000-8000-000000000001";

describe("isSecretName", () => {
  it.each(["password", "DB_PASSWORD", "apiKey", "api-key", "X_TOKEN", "sessionId", "clientSecret", "Cookie"])(
    "takes %s for the name of a secret",
    (name) => expect(isSecretName(name)).toBe(true),
  );
  it.each(["name", "operation", "keyboard", "status", "tokens_of", "PATH"])("does not take %s", (name) =>
    expect(isSecretName(name)).toBe(false),
  );
});

describe("scrub", () => {
  it.each([
    "WAYBILL_TLS_CERT has expired",
    "0085-links-for-emergencies.sql is not applied",
    "postgresql-18-x86_64-linux-gnu",
    `entries of ${uuid} are missing`,
    "/var/lib/waybill has rights 0700",
    "connect ECONNREFUSED 127.0.0.1:5432",
    "2026-11-23T10:00:00.000Z",
    "http://localhost:8001 answers",
  ])("leaves %s as it is", (text) => expect(scrub(text, [])).toBe(text));

  it.each([
    ["password=horse", "password=[removed]"],
    ['{"token": "ho\\"rse", "n": 1}', '{"token": [removed], "n": 1}'],
    ["Authorization: Bearer horse", "Authorization: [removed]"],
    ["postgres://me:horse@db:5432/x?y=1", "postgres://db:5432/[removed]"],
    ["https://hooks.example.com/horse", "https://hooks.example.com/[removed]"],
    ["https://a:b@[::1]:1/", "https://[::1]:1/[removed]"],
    ["https://ho\u0000rse/", "https://[removed]/[removed]"],
    ["set __Host-waybill-session=horse; now", "set [removed]; now"],
    ["wb_abcdefghijk", "[removed]"],
    ["AGE-SECRET-KEY-1ABC", "[removed]"],
    ["a 7Hq0zPq9sKx2 b", "a [removed] b"],
    ["-----BEGIN EC KEY-----\nx\n-----END EC KEY----- y", "[removed] y"],
  ])("takes what is secret out of %j", (text, left) => expect(scrub(text, [])).toBe(left));

  it("takes out every known text, wherever it stands", () => {
    const secret = fc
      .string({ minLength: 5 })
      .filter((text) => !/[[\]]/.test(text) && text.trim().length >= 5);
    fc.assert(
      fc.property(secret, fc.string(), fc.string(), (text, before, after) => {
        const left = withoutKnown(`${before}${text}${after}`, knownTexts({ SETTING: text }));
        expect(left).not.toContain(text.trim());
      }),
    );
  });

  it("knows the parts of settings, as they are and as they are written elsewhere", () => {
    const known = knownTexts({
      URL: "smtp://user-name:pass%21word@host/pa-th?key=va-lue#frag-ment",
      LIST: "first, second",
    });
    for (const text of ["user-name", "pass%21word", "pass!word", "pa-th", "va-lue", "frag-ment"])
      expect(scrub(`<${text}>`, known)).toBe("<[URL]>");
    expect(scrub("<second>", known)).toBe("<[LIST]>");
    expect(scrub("the host is away", known)).toBe("the host is away");
    expect(scrubValue({ "a second": ["first", 1, null] }, known)).toEqual({
      "a [LIST]": ["[LIST]", 1, null],
    });
  });

  it("takes little time for whatever stands in a line", () => {
    const began = performance.now();
    for (const part of ["a", "password", "a1", '"', "://", "at ", "=", "\\"]) {
      const line = part.repeat(16_384 / part.length);
      scrub(line, []);
      scrubLogLine(line, []);
      scrubLogLine(JSON.stringify({ msg: line, err: { stack: line } }), []);
    }
    expect(performance.now() - began).toBeLessThan(20_000);
  });
});

describe("scrubLogLine", () => {
  it("keeps of an object nothing but fields that the program writes", () => {
    const value = fc.oneof(fc.string(), fc.object());
    const other = fc.string().filter((name) => !/^(?:msg|err|error|cause|level|time)$/.test(name));
    fc.assert(
      fc.property(
        fc.dictionary(
          other.map((name) => `x${name}`),
          value,
        ),
        (fields) => {
          expect(scrubLogLine(JSON.stringify({ level: 30, ...fields }), [])).toBe('{"level":30}');
        },
      ),
    );
  });

  it.each([
    ['{"level":30,"msg":"request","operation":"list_flows","status":200,"ms":1.5}', undefined],
    [`{"level":30,"reqId":"${uuid}","msg":"slow request"}`, undefined],
    [
      '{"path":"/acme","method":"GET","operation":"has a \\u0000"}',
      '{"method":"GET","operation":"[removed]"}',
    ],
    ['{"statements":[{"name":"find-trail","ms":2}]}', '{"statements":[{"statement":"find-trail","ms":2}]}'],
    [
      '{"err":{"type":"Error","code":"ENOENT","message":"open \'/a\'"}}',
      '{"err":{"type":"Error","code":"ENOENT","message":"open [removed]"}}',
    ],
    [
      '2026-11-23 10:00:00.000 UTC [42] ERROR:  relation "trails" is "x"',
      '2026-11-23 10:00:00.000 UTC [42] ERROR:  relation "trails" is [removed]',
    ],
    ["2026-11-23 10:00:00.000 UTC [42] DETAIL:  x", "[43 characters removed]"],
    ["    at send (file:///home/me/app/dist/main.js:1:2)", "    at send (dist/main.js:1:2)"],
    ["hello", "[5 characters removed]"],
    ["", undefined],
  ])("of %j", (line, shown) => expect(scrubLogLine(line, [])).toBe(shown ?? line));
});

describe("shownMetrics", () => {
  it("has figures, and no label that others make up", () => {
    const text = [
      "# HELP waybill_reports_total Reports that were taken, by kind",
      'waybill_reports_total{kind="artifact",org="acme"} 3',
      'waybill_audit_export_lag_seconds{target="https://siem.example.com/"} 1.5e+3',
      'waybill_notification_attempts_total{target="SLACK",outcome="failed"} NaN',
      "process_start 1",
      'broken{x="',
      "",
    ].join("\n");
    expect(shownMetrics(text, []).split("\n")).toEqual([
      "# HELP waybill_reports_total Reports that were taken, by kind",
      'waybill_reports_total{kind="artifact",org="[removed]"} 3',
      'waybill_audit_export_lag_seconds{target="[removed]"} 1.5e+3',
      'waybill_notification_attempts_total{target="SLACK",outcome="failed"} NaN',
      "process_start 1",
      "[removed]",
      "",
    ]);
  });
});
