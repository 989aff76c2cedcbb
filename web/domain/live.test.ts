import { describe, expect, it } from "vitest";

import { isTouchedBy } from "./live.ts";

describe("a change", () => {
  it.each([
    ["GET /environments/{org}", {}, { topic: "environment", name: "prod" }, true],
    [
      "GET /environments/{org}/{env_name}",
      { env_name: "prod" },
      { topic: "environment", name: "prod" },
      true,
    ],
    [
      "GET /environments/{org}/{env_name}",
      { env_name: "test" },
      { topic: "environment", name: "prod" },
      false,
    ],
    ["GET /environments/{org}/{env_name}", { env_name: "test" }, { topic: "environment", name: null }, true],
    ["GET /organizations/{org}/overview", {}, { topic: "environment", name: "prod" }, true],
    ["GET /policies/{org}", {}, { topic: "trail", name: "web-ci/1" }, false],
    ["GET /trails/{org}", {}, { topic: "trail", name: "web-ci/1" }, true],
    ["GET /members/{org}", {}, { topic: "member", name: "ann" }, true],
  ] as const)("makes %s %j be read again after %j: %s", (operation, params, change, expected) =>
    expect(isTouchedBy(operation, { params }, change)).toBe(expected),
  );
});
