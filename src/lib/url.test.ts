import { describe, expect, it } from "vitest";

import { parseUrl } from "./url.ts";

describe("parseUrl", () => {
  it.each(["", "x", "//host/x", "http://", "https://[x", "/path"])("finds none in %j", (text) =>
    expect(parseUrl(text)).toBeUndefined(),
  );

  it("reads international hosts, however often it was called before", () => {
    for (let round = 0; round < 200_000; round += 1) parseUrl("https://example.com/x");
    expect(parseUrl("https://bücher.example/x")?.href).toBe("https://xn--bcher-kva.example/x");
  });
});
