import { describe, expect, it } from "vitest";

import {
  environmentNamePattern,
  flowNamePattern,
  maxNameLength,
  organizationNameLength,
  organizationNamePattern,
} from "../../src/domain/names.ts";
import { nameMistake, nameRules, nameWords } from "./new-names.ts";

const server = {
  environment: { pattern: environmentNamePattern, most: maxNameLength },
  flow: { pattern: flowNamePattern, most: maxNameLength },
  organization: { pattern: organizationNamePattern, most: organizationNameLength.max },
} as const;
const kinds = ["environment", "flow", "organization"] as const;

describe("names of what is made on pages", () => {
  it.each(kinds)("of kind %s are allowed where the server allows them", (kind) => {
    const { pattern, most } = server[kind];
    const signs = [...Array.from({ length: 0x250 }, (_, code) => String.fromCharCode(code)), "€", "😀"];
    for (const name of signs.flatMap((sign) => [sign, `a${sign}`, `a${sign}b`]))
      expect([name, nameMistake(kind, name) === undefined]).toEqual([name, pattern.test(name)]);
    expect(nameRules[kind].most).toBe(most);
    expect(nameMistake(kind, "a".repeat(most))).toBeUndefined();
    expect(nameMistake(kind, "a".repeat(most + 1))).toContain(String(most));
  });

  it("that nobody has written yet are no mistake", () => {
    expect(nameMistake("flow", "")).toBeUndefined();
  });

  it("say what is wrong with them in words", () => {
    expect(nameMistake("environment", "prod east")).toMatch(/^It cannot hold a blank\. Letters, digits, /);
    expect(nameMistake("environment", "prod~1")).toContain("“~”");
    expect(nameMistake("flow", "prod~1")).toBeUndefined();
    expect(nameMistake("organization", "-x")).toBe("It begins with a letter or a digit, not with “-”.");
    expect(nameWords("environment")).toBe(
      "Letters, digits, “.”, “-” and “_”, beginning with a letter or a digit.",
    );
  });
});
