import { describe, expect, it } from "vitest";

import { nameWithoutTag } from "./artifact-name.ts";

describe("a name without its tag", () => {
  it.each([
    ["web:1.2", "web"],
    ["registry:5000/shop/web:1.2", "registry:5000/shop/web"],
    ["registry:5000/shop/web", "registry:5000/shop/web"],
    [`shop/web@sha256:${"a".repeat(64)}`, "shop/web"],
    [`shop/web:1@sha256:${"a".repeat(64)}`, "shop/web"],
    [String.raw`C:\bin\web.exe`, String.raw`C:\bin\web.exe`],
    ["/usr/bin/web", "/usr/bin/web"],
    ["web", "web"],
  ])("of %s is %s", (name, bare) => {
    expect(nameWithoutTag(name)).toBe(bare);
  });
});
