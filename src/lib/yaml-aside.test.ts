import { expect, it } from "vitest";

import { YamlBusy, yamlReader } from "./yaml-aside.ts";

const limits = { maxLength: 64 * 1024, maxValues: 20_000 };

function longText(value: string): string {
  return `# ${"x".repeat(8_000)}\na: ${value}\n`;
}

it("reads long texts in turn for their owners, and refuses one that has too much waiting", async () => {
  const order: string[] = [];
  const ask = (owner: string) => async (value: number) => {
    expect(await yamlReader.read(owner, longText(String(value)), limits)).toEqual(new Map([["a", value]]));
    order.push(owner);
  };
  const many = Array.from({ length: 51 }, (_, index) => ask("many")(index));
  const one = ask("one")(7);
  // One is being read, fifty wait.
  await expect(yamlReader.read("many", longText("1"), limits)).rejects.toThrow(YamlBusy);
  await one;
  expect(order.length).toBeLessThan(5);
  await Promise.all(many);
  expect(order).toHaveLength(52);
});

it("tells what is wrong where, whichever thread reads", async () => {
  for (const before of ["", "# \n".repeat(500), "# \n".repeat(5_000)])
    await expect(yamlReader.read("one", `${before}a: 1\na: 2`, limits)).rejects.toMatchObject({
      message: "Key 'a' is given twice",
      line: before.split("\n").length + 1,
    });
  const tooLong = "a: b\n".repeat(20_000);
  await expect(yamlReader.read("one", tooLong, limits)).rejects.toThrow(
    "Text is longer than 65536 characters",
  );
});
