import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { parseUrl } from "../lib/url.ts";
import { urlProblem } from "./url-text.ts";

describe("urlProblem", () => {
  it.each([
    "https://ci.example.com/7",
    "http://localhost:8080/job/a%20b/7/",
    "https://dev.azure.com/acme/My Project/_build/results?buildId=7&view=results#log",
    "https://user:secret@ci.example.com",
    "HTTPS://CI.EXAMPLE.COM",
    "https://ci_1.internal/x",
    "https://bücher.example/ä",
    "https://[::1]:8443/",
    "http://10.0.0.1/x",
    "  https://ci.example.com  ",
    "ssh://git@example.com/acme/web.git",
    "s3://bucket/run/7",
    "file:///var/log/run.txt",
    "urn:run:7",
    "mailto:ci@example.com",
  ])("takes %j", (text) => expect(urlProblem(text)).toBeUndefined());

  it.each([
    ["", "input is empty"],
    [" ", "relative URL without a base"],
    ["run 7", "relative URL without a base"],
    ["ci.example.com/7", "relative URL without a base"],
    ["/job/7", "relative URL without a base"],
    ["//ci.example.com/7", "relative URL without a base"],
    ["git@github.com:acme/web.git", "relative URL without a base"],
    ["http://", "empty host"],
    ["https:", "empty host"],
    ["https://?x", "empty host"],
    ["http://user@/x", "empty host"],
    ["http://:80/", "empty host"],
    ["http://ci.example.com:port/", "invalid port number"],
    ["http://ci.example.com:99999/", "invalid port number"],
    ["http://[::1", "invalid IPv6 address"],
    ["http://[fe80::z]:80/", "invalid IPv6 address"],
    ["http://1.2.3.256/", "invalid IPv4 address"],
    ["http://exa mple.com/", "invalid international domain name"],
    ["http://a<b>/", "invalid international domain name"],
    ["ssh://a b/", "invalid international domain name"],
  ])("refuses %j: %s", (text, reason) =>
    expect(urlProblem(text)).toBe(`Input should be a valid URL, ${reason}`),
  );

  it("takes long ones, but not endless ones", () => {
    expect(urlProblem(`https://a.test/${"x".repeat(60_000)}`)).toBeUndefined();
    expect(urlProblem(`https://a.test/${"x".repeat(66_000)}`)).toBe(
      "URL should have at most 65536 characters",
    );
  });

  it("has a reason for every text that is none", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.webUrl()), (text) => {
        const reason = urlProblem(text);
        const isUrl = parseUrl(text) !== undefined;
        expect(reason === undefined).toBe(isUrl);
        if (reason !== undefined) expect(reason).toMatch(/^Input should be a valid URL, [a-zA-Z0-9 ]+$/);
      }),
      { numRuns: 1000 },
    );
  });
});
