import { execFileSync } from "node:child_process";

import fc from "fast-check";
import { expect, it } from "vitest";

import { quoted } from "./shell.ts";

it("quotes any text as one word of the shell", () => {
  const unit = fc.constantFrom(...Array.from("'\"\\$`!~*?;&|<>(){}[]# \n\té€a1"));
  const word = fc.string({ unit });
  const words = [...fc.sample(word, 60), "it's", "", '$HOME `x` "y" \\', "a\nb\n"];
  const said = execFileSync("/bin/sh", ["-c", `printf '%s\\0' ${words.map(quoted).join(" ")}`]);
  expect(said.toString("utf8").split("\0")).toEqual([...words, ""]);
});
