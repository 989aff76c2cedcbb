import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";

import { normalDefinition, type TypeDefinition } from "../../src/domain/attestation-types/definition.ts";
import { createSandbox } from "../../src/lib/sandbox/sandbox.ts";
import { checkDefinition } from "../../src/modules/process/attestation-types/check.ts";
import { judgeCustomData } from "../../src/modules/process/attestation-types/service.ts";
import { jq } from "../support/attestation-types.ts";
import { amount } from "../support/thorough.ts";

const sandbox = createSandbox();
afterAll(() => sandbox.close());

/** Pieces of programs that may end the place they are put into, or swallow what comes after it. */
const piece = fc.constantFrom(
  ...'( ) [ ] { } | , ; # \n \\ . : ? // " $v $x f true false null 1 empty error not .a'.split(" "),
  "\n",
  "# c \\\n",
  "def f: true; ",
  ". as $x | ",
  "if . then true else false end",
  "try error catch ",
  "label $out | ",
  "break $out",
  '"\\(',
  ")) , ((",
  "__judge(",
  'import "a" as a; ',
  "module {}; ",
  "reduce .a as $x (0; . + 1) | ",
);
const fragments = fc.array(piece, { minLength: 1, maxLength: 6 }).map((pieces) => pieces.join(""));

/** Whole programs, with what may trouble their surroundings at the seams. */
const term = fc.constantFrom(
  "true",
  "false",
  ".a == [1]",
  "empty",
  "error",
  "(true, false)",
  "[.a[]] == .a",
  "def f: true; f",
);
const seam = fc.constantFrom(
  ", ",
  " | ",
  " and ",
  " or ",
  " // ",
  " #)\n, ",
  "\n#\\\\\n| ",
  " # c \\\n)\n, ",
  " as $x | ",
);
const ending = fc.constantFrom("", " ", "\n", "#", " # )", " # \\", " #\\\\", " # \\\n", " # \\\n)", " # \r");
const program = fc
  .tuple(term, fc.array(fc.tuple(seam, term), { maxLength: 3 }), ending)
  .map(([first, rest, end]) => first + rest.map((pair) => pair.join("")).join("") + end);
const rule = fc.oneof({ weight: 4, arbitrary: program }, { weight: 1, arbitrary: fragments });

async function isUsable(definition: TypeDefinition): Promise<boolean> {
  return checkDefinition(sandbox, "org", definition).then(
    () => true,
    () => false,
  );
}

/** The verdict on a rule that has a program for itself. */
async function verdictAlone(program: string, input: unknown): Promise<boolean> {
  const job = { input: JSON.stringify(input), steps: [{ kind: "run" as const, program }] };
  const { results, output } = await sandbox.run("org", job);
  return results[0]?.failure === undefined && /^(?:true\n)+$/.test(output);
}

describe("rules that were found usable", () => {
  it("have the same verdict together as alone", { timeout: 120_000 }, async () => {
    const runs = amount(80, 200);
    let usable = 0;
    await fc.assert(
      fc.asyncProperty(rule, rule, async (first, second) => {
        const definition = normalDefinition({
          evaluator: { content_type: "jq", rules: [first, "true", second] },
        });
        if (!(await isUsable(definition))) return;
        usable += 1;
        const data = { a: [1] };
        const judgement = await judgeCustomData({ sandbox }, { ...definition, org_id: "org" }, data);
        expect(judgement.rule_results.map(({ passed }) => passed)).toEqual([
          await verdictAlone(first, data),
          true,
          await verdictAlone(second, data),
        ]);
      }),
      {
        numRuns: runs,
        examples: [
          [".a # \\", ".a == [1]"],
          ["true#\\\\", "false"],
          ["(true", "true)"],
        ],
      },
    );
    // Enough to mean something.
    expect(usable).toBeGreaterThan(runs / 5);
  });

  it("see nothing of the program around them", async () => {
    for (const name of ["__judge(.)", "$v", "$__v", "f"])
      expect(
        await isUsable(normalDefinition({ evaluator: { content_type: "jq", rules: jq(name).rules } })),
      ).toBe(false);
  });
});
