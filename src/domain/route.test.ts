import { describe, expect, it } from "vitest";

import { type Fault, testDiagnoses, type Well } from "../../test/support/diagnoses.ts";
import { createSecretBox } from "../lib/secret-box.ts";
import {
  answerRoute,
  askRoute,
  isRouteAsked,
  judgeRoute,
  pretendedAddress,
  readRoute,
  type Route,
} from "./route.ts";

const secrets = createSecretBox("k".repeat(43));
const now = 1_780_000_000;

describe("the question by which way a request came", () => {
  it("is taken from who has the key, for a minute", () => {
    const question = askRoute(secrets, now);
    expect([-60, 0, 60].map((late) => isRouteAsked(secrets, question, now + late))).toEqual([
      true,
      true,
      true,
    ]);
    expect([-61, 61].map((late) => isRouteAsked(secrets, question, now + late))).toEqual([false, false]);
  });

  it.each([
    ["another key", askRoute(createSecretBox("j".repeat(43)), now)],
    ["another text", secrets.seal(`rout ${now}`).toString("base64url")],
    ["no time", secrets.seal("route").toString("base64url")],
    ["no number", secrets.seal("route x").toString("base64url")],
    ["no sealed bytes", "AAAA"],
    ["nothing", ""],
    ["other letters", "ä{}\u0000"],
  ])("is not taken with %s", (_, question) => {
    expect(isRouteAsked(secrets, question, now)).toBe(false);
  });

  const route: Route = {
    peer: "10.0.0.1",
    address: "10.0.0.1",
    is_trusted: false,
    forwarded_for: "\u00e4, 1",
  };

  it("gets an answer that can be a header", () => {
    expect(answerRoute(route)).toMatch(/^[\w-]+$/);
    expect(readRoute(answerRoute(route))).toEqual(route);
  });

  it.each([null, "", "x", Buffer.from("{}").toString("base64url")])("has no answer in %j", (answer) => {
    expect(readRoute(answer)).toBeUndefined();
  });
});

describe("what a request met on its way", () => {
  const proxy = "10.0.0.1";
  const caller = "203.0.113.9";
  const here = "198.51.100.5";
  const direct: Route = { peer: caller, address: caller, is_trusted: false, forwarded_for: pretendedAddress };
  const passedOn: Route = {
    peer: proxy,
    address: caller,
    is_trusted: true,
    forwarded_for: `${pretendedAddress}, ${caller}`,
  };
  const expected = {
    publicUrl: "https://waybill.example.org",
    isBehindProxy: true,
    ownAddresses: [here],
  };
  const noProxy = { ...expected, isBehindProxy: false };
  const well: Well[] = [
    ["a trusted proxy", judgeRoute(passedOn, expected)],
    ["a trusted proxy nobody knew of", judgeRoute(passedOn, noProxy)],
    ["a proxy that replaces the header", judgeRoute({ ...passedOn, forwarded_for: caller }, expected)],
    ["no proxy", judgeRoute(direct, noProxy)],
    [
      "no proxy, and trust in this machine",
      judgeRoute({ ...direct, address: pretendedAddress, is_trusted: true }, noProxy),
    ],
    ...["127.0.0.1", "::1", here].map((own): Well => [
      `a request of this machine, which is trusted as ${own}`,
      judgeRoute(
        {
          peer: "127.0.0.1",
          address: pretendedAddress,
          is_trusted: true,
          forwarded_for: `${pretendedAddress}, ${own}`,
        },
        expected,
      ),
    ]),
  ];
  const faults: Fault[] = [
    [
      "trust is missing",
      judgeRoute({ ...passedOn, address: proxy, is_trusted: false }, expected),
      "warning",
      /10\.0\.0\.1 that is not trusted/,
    ],
    [
      "the proxy says nothing",
      judgeRoute({ ...passedOn, forwarded_for: null }, expected),
      "warning",
      /does not say/,
    ],
    [
      "the proxy changes nothing",
      judgeRoute({ ...direct, peer: proxy, address: proxy }, expected),
      "warning",
      /does not say/,
    ],
    [
      "the proxy changes nothing, and is trusted",
      judgeRoute({ ...passedOn, address: pretendedAddress, forwarded_for: pretendedAddress }, expected),
      "failing",
      /passes on whatever/,
    ],
    [
      "more are trusted than there are",
      judgeRoute({ ...passedOn, address: pretendedAddress }, expected),
      "failing",
      /more proxies/,
    ],
  ];
  testDiagnoses(well, faults);
});
