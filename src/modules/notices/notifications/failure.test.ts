import { describe, expect, it } from "vitest";

import { explainFailure } from "./failure.ts";

function failed(fields: Record<string, unknown>): Error {
  return Object.assign(new Error("connect to hooks.example.com/t0ken"), fields);
}

const untrusted = "The server's certificate is not of an authority that is trusted here";

describe("what went wrong", () => {
  it.each([
    [{ code: "ECONNREFUSED" }, "Connection refused"],
    [{ code: "SELF_SIGNED_CERT_IN_CHAIN" }, untrusted],
    [{ code: "UNABLE_TO_VERIFY_LEAF_SIGNATURE" }, untrusted],
    [{ code: "CERT_HAS_EXPIRED" }, "The server's certificate has expired"],
    [{ code: "ESOCKET", originalCode: "DEPTH_ZERO_SELF_SIGNED_CERT" }, untrusted],
    [{ code: "ESOCKET", originalCode: "ECONNREFUSED" }, "The mail server cannot be reached"],
    [{ code: "ESOCKET" }, "The mail server cannot be reached"],
    [{ name: "TimeoutError", code: 23 }, "No answer in time"],
    [{ code: "EODD" }, "Sending failed (EODD)"],
    [{}, "Sending failed"],
    [
      { name: "TargetRefused", message: "Host leads to a private network" },
      "Host leads to a private network",
    ],
  ])("%o is said in words, without the address", (fields, words) => {
    expect(explainFailure(failed(fields))).toBe(words);
  });
});
