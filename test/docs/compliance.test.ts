import { readFileSync } from "node:fs";

import { expect, it } from "vitest";

import { parseTemplate } from "../../src/domain/template/parse.ts";

it("the page about compliance has a template that is one", () => {
  const page = readFileSync(new URL("../../docs/compliance.md", import.meta.url), "utf8");
  const [, text] = /^```yaml\n(.*?)^```/ms.exec(page)!;
  expect(parseTemplate(text!).trail.artifacts.map(({ name }) => name)).toEqual(["web"]);
});
