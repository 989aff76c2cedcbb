import { describe, expect, it } from "vitest";

import { pagePaths } from "../paths.ts";
import { deeds, furtherPages } from "./deeds.ts";
import { navigation } from "./navigation.ts";

describe("the search palette", () => {
  it("leads to every page that needs nothing but an organization", () => {
    const led = new Set<string>([
      ...navigation.flatMap(({ entries }) => entries.map(({ to }) => to)),
      ...[...furtherPages, ...deeds].map(({ to }) => to),
    ]);
    // Where they lead is said by what leads there.
    const others = new Set<string>(["/", "/-/sign-in", "/-/invitation", "/-/instance"]);
    const alone = pagePaths.filter((path) => !path.replace("/$org", "").includes("$"));
    expect(alone.filter((path) => !led.has(path) && !others.has(path))).toEqual([]);
    expect([...led].filter((path) => !pagePaths.some((known) => known === path))).toEqual([]);
  });

  it("gives no key after g twice", () => {
    const keys = navigation.flatMap(({ entries }) =>
      entries.flatMap((entry) => ("key" in entry ? [entry.key] : [])),
    );
    expect(new Set(keys).size).toBe(keys.length);
    expect(keys).toEqual(expect.arrayContaining(["s", "r", "c", "e", "f", "p", "o"]));
  });
});
