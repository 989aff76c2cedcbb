import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { maskUrl, targetUrlProblem } from "./target-url.ts";

const notUrl = "Input should be a valid URL starting with http:// or https://";
const credentials = "URL should not contain credentials";
const privateNetwork = "URL should not lead to a private network";

describe("targetUrlProblem", () => {
  it.each([
    "https://example.com",
    "http://example.com:8080/hook?token=abc#x",
    "HTTPS://EXAMPLE.COM/",
    "https://8.8.8.8/x",
    "https://[2606:4700:4700::1111]:444/x",
    "https://bücher.example/x",
    "https://example.com/%E2%82%AC@x:y",
  ])("accepts %s", (text) => expect(targetUrlProblem(text, false)).toBeUndefined());

  it.each([
    "",
    "example.com",
    "/hook",
    "//example.com/hook",
    "ftp://example.com",
    "javascript:alert(1)",
    "file:///etc/passwd",
    "http:example.com",
    "http:/example.com",
    "http:///example.com",
    "http://",
    "http://?x",
    "http://#x",
    "https://exa mple.com",
    " https://example.com",
    "https://example.com\n",
    "https://exam\tple.com",
    "https://example.com/\u0000",
    "https://example.com\\@127.0.0.1",
    "https://example.com:99999",
    "https://[::1",
    "https://256.256.256.256",
    "https://1.2.3.4.5",
    "https://%zz/",
  ])("refuses %j as no URL", (text) => expect(targetUrlProblem(text, false)).toBe(notUrl));

  it.each([
    "https://u@example.com",
    "https://u:p@example.com",
    "https://:p@example.com",
    "https://8.8.8.8@10.0.0.1/",
  ])("refuses credentials in %s", (text) => {
    expect(targetUrlProblem(text, false)).toBe(credentials);
    expect(targetUrlProblem(text, true)).toBe(credentials);
  });

  it.each([
    "http://127.0.0.1/",
    "http://127.1/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0x7f.0.0.1/",
    "http://0177.0.0.1/",
    "http://017700000001/",
    "http://127.0.0.1./",
    "http://１２７.０.０.１/",
    "http://127。0。0。1/",
    "http://%31%32%37.0.0.1/",
    "http://0/",
    "http://10.1.2.3:8080/",
    "http://172.16.0.1/",
    "http://192.168.1.1/",
    "http://100.64.0.1/",
    "http://169.254.169.254/latest/meta-data",
    "http://2852039166/",
    "http://255.255.255.255/",
    "http://[::]/",
    "http://[::1]/",
    "http://[0:0:0:0:0:0:0:1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:10.0.0.1]/",
    "http://[::ffff:a00:1]/",
    "http://[64:ff9b::10.0.0.1]/",
    "http://[fd00:ec2::254]/",
    "http://[fe80::1]/",
    "http://localhost:3000/",
    "http://LOCALHOST/",
    "http://x.localhost./",
    "http://metadata.google.internal/",
    "http://web/",
    "http://web.default.svc.cluster.local/",
  ])("refuses %s unless private targets are allowed", (text) => {
    expect(targetUrlProblem(text, false)).toBe(privateNetwork);
    expect(targetUrlProblem(text, true)).toBeUndefined();
  });

  it("never throws, and passes only what the URL parser reads as HTTP", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.webUrl(),
          fc.string().map((rest) => `http://${rest}`),
        ),
        (text) => {
          const passed = targetUrlProblem(text, false) === undefined;
          expect(passed && !/^https?:$/.test(new URL(text).protocol)).toBe(false);
        },
      ),
      { numRuns: 2000 },
    );
  });
});

describe("maskUrl", () => {
  it("shows scheme and host only", () => {
    expect(maskUrl("https://user:pass@hooks.example.com:8443/T0/secret?token=x#y")).toBe(
      "https://hooks.example.com:8443/***",
    );
  });

  it.each(["", "secret", "htp://hooks.example.com/secret", "http:secret", "https://[secret"])(
    "shows nothing of %j",
    (text) => expect(maskUrl(text)).toBe("***"),
  );
});
