import { describe, expect, it } from "vitest";

import { parameterOf, pathOfPage, safeLink } from "./links.ts";

describe("links from outside", () => {
  it("lead to the web and nowhere else", () => {
    expect(safeLink("https://code.example/a b")?.href).toBe("https://code.example/a%20b");
    for (const text of [
      "javascript:alert(1)",
      "data:text/html,x",
      "//host/x",
      "",
      "https://",
      null,
      undefined,
    ])
      expect(safeLink(text)).toBeUndefined();
  });

  it("become addresses of this site where the API gave them", () => {
    const address = "https://waybill.example/base/acme/flows/web?attestation_id=1#x";
    expect(pathOfPage(address, "/base/")).toBe("/acme/flows/web?attestation_id=1#x");
    expect(pathOfPage(address, "/")).toBe("/base/acme/flows/web?attestation_id=1#x");
    expect(pathOfPage(address, "/other/")).toBeUndefined();
    for (const text of ["javascript:alert(1)", "https://waybill.example//evil.example/", "", null])
      expect(pathOfPage(text, "/")).toBeUndefined();
  });

  it("tell what they name in their query", () => {
    expect(parameterOf("https://waybill.example/acme/x?artifact_id=0a-1&b=2", "artifact_id")).toBe("0a-1");
    for (const text of ["https://waybill.example/acme/x", "javascript:x?artifact_id=1", "", null, undefined])
      expect(parameterOf(text, "artifact_id")).toBeUndefined();
  });
});
