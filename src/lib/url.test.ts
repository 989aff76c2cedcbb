import { describe, expect, it } from "vitest";

import { parseUrl, percentDecoded } from "./url.ts";

describe("parseUrl", () => {
  it.each(["", "x", "//host/x", "http://", "https://[x", "/path"])("finds none in %j", (text) =>
    expect(parseUrl(text)).toBeUndefined(),
  );

  it("reads international hosts, however often it was called before", () => {
    for (let round = 0; round < 200_000; round += 1) parseUrl("https://example.com/x");
    expect(parseUrl("https://bücher.example/x")?.href).toBe("https://xn--bcher-kva.example/x");
  });
});

it.each([
  ["a%20b", "a b"],
  ["b%C3%BCcher", "bücher"],
  ["%ff", "%ff"],
  ["100%", "100%"],
  ["plain", "plain"],
])("percentDecoded reads %j as %j", (text, read) => expect(percentDecoded(text)).toBe(read));
