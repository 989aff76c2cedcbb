import { afterAll, describe, expect, it } from "vitest";

import { createSandbox, type JobResult, SandboxBusy, SandboxUnavailable, type Step } from "./sandbox.ts";

const sandbox = createSandbox({ timeLimit: 10_000 });
/** For programs that never end. The first job of a thread pays for loading, so not too short either. */
const impatient = createSandbox({ timeLimit: 1_500, threads: 1 });
afterAll(async () => {
  await sandbox.close();
  await impatient.close();
});

function run(program: string, input: unknown = { a: 2 }): Promise<JobResult> {
  return sandbox.run("org", { input: JSON.stringify(input), steps: [{ kind: "run", program }] });
}

async function compileFailure(program: string): Promise<string | undefined> {
  const { results } = await sandbox.run("org", { steps: [{ kind: "compile", program }] });
  return results[0]?.failure;
}

async function problems(kind: "check_schema" | "validate", schema: unknown, input?: unknown) {
  const step: Step = { kind, schema: JSON.stringify(schema) };
  const { results } = await sandbox.run("org", {
    steps: [step],
    ...(input === undefined ? {} : { input: JSON.stringify(input) }),
  });
  return results[0]?.problems;
}

describe("jq in the sandbox", () => {
  it("is jq", async () => {
    const program = '.a, (.b[] | select(. > 1)), "\\(.c)", ({x: .a} | tojson), (.c | test("^é"))';
    const { results, output } = await run(program, { a: 2, b: [1, 2, 3], c: "é☃😀" });
    expect(results).toEqual([{ problems: [] }]);
    expect(output).toBe('2\n2\n3\n"é☃😀"\n"{\\"x\\":2}"\ntrue\n');
  });

  it("compiles without running", async () => {
    expect(await compileFailure("def f: f; f")).toBeUndefined();
    expect(await compileFailure(".a |")).toBe(
      "syntax error, unexpected end of file at <top-level>, line 1:\n.a |",
    );
  });

  it.each([
    ["$ENV", "{}"],
    ["env", "{}"],
    ["env.PATH", "null"],
    ["[inputs]", "[]"],
    ["input_filename", '"<stdin>"'],
    ["debug", '{"a":2}'],
    ['debug("x")', '{"a":2}'],
    ["stderr", '{"a":2}'],
    ["$__loc__", '{"file":"<top-level>","line":1}'],
    ['"\\(.a) $(id)" | @sh', `"'2 $(id)'"`],
  ])("shows nothing of the outside to %s", async (program, output) => {
    expect((await run(program)).output).toBe(`${output}\n`);
  });

  it.each([
    'import "a" as a; a::b',
    'import "/etc/passwd" as $p; $p',
    'include "a"; .',
    'import "a" as a {search: "/"}; .',
    '"/etc/passwd" | modulemeta',
    "input",
    "getpath(1)",
    "$__prog_args",
  ])("fails to run %s", async (program) => {
    const { results, output } = await run(program);
    expect(results[0]?.failure).toBeTruthy();
    expect(output).toBe("");
  });

  it("keeps nothing from one run to the next", async () => {
    const programs = ["halt", "halt_error", "1 | error", "reduce range(100000) as $i (.; [.])"];
    for (const program of programs) {
      await run(program);
      expect((await run(".a")).output).toBe("2\n");
    }
  });

  it.each([
    ["[range(1e12)]", "memory"],
    ['"a" * 1e9 | length', "memory"],
    ["def f: 1 + f; f", "memory"],
    ['[range(100000) | "aaaaaaaaaaaaaaaa"] | .[]', "output"],
    ["reduce range(100000) as $i (.; [.])", "crash"],
  ])("ends %s for its %s", async (program, limit) => {
    expect((await run(program)).limit).toBe(limit);
    expect((await run(".a")).output).toBe("2\n");
  });

  it.each([
    "def f: f; f",
    "last(repeat(1))",
    "[limit(infinite; repeat(empty))]",
    "reduce range(1e12) as $i (0; .)",
  ])("ends %s for its time, while others are served", async (program) => {
    const endless = impatient.run("a", {
      input: "1",
      steps: [{ kind: "run", program: `"begun", (${program})` }],
    });
    const [other, { results, output, limit }] = await Promise.all([run(".a"), endless]);
    expect(other.output).toBe("2\n");
    expect({ results, output, limit }).toEqual({ results: [], output: '"begun"\n', limit: "time" });
  });

  it("goes on after a thread was ended", async () => {
    const job = { input: "1", steps: [{ kind: "run" as const, program: "." }] };
    expect((await impatient.run("a", job)).output).toBe("1\n");
    expect(impatient.threads()).toBe(1);
  });

  it("reads large inputs in little time", async () => {
    const input = Array.from({ length: 20_000 }, (_, id) => ({ id, name: `name ${id}`, tags: ["a", "b"] }));
    expect((await run("[.[] | .id] | add", input)).output).toBe("199990000\n");
  });
});

describe("JSON Schema in the sandbox", () => {
  const person = {
    type: "object",
    properties: {
      name: { type: "string" },
      age: { type: "integer", minimum: 0 },
      kind: { enum: ["a", "b"] },
    },
    required: ["name"],
    additionalProperties: false,
  };

  it("says what does not fit, and where", async () => {
    expect(await problems("validate", person, { name: "x" })).toEqual([]);
    expect(await problems("validate", person, { age: -1, kind: "c", "a/b": 1 })).toEqual([
      { path: "", reason: "must have required property 'name'" },
      { path: "", reason: "must NOT have additional properties: a/b" },
      { path: "/age", reason: "must be >= 0" },
      { path: "/kind", reason: 'must be equal to one of the allowed values: ["a","b"]' },
    ]);
  });

  it("tells booleans, numbers and null apart", async () => {
    const schema = { properties: { a: { const: true }, b: { type: "number" }, c: { type: "null" } } };
    expect(await problems("validate", schema, { a: true, b: 1, c: null })).toEqual([]);
    for (const input of [{ a: 1 }, { a: "true" }, { b: true }, { b: "1" }, { c: false }, { c: 0 }, { c: "" }])
      expect(await problems("validate", schema, input)).toHaveLength(1);
  });

  it("knows the dialects by their names", async () => {
    const tuple = { prefixItems: [{ type: "string" }] };
    const dialect = { $schema: "https://json-schema.org/draft/2020-12/schema" };
    expect(await problems("validate", { ...dialect, ...tuple }, [1])).toHaveLength(1);
    expect(await problems("validate", tuple, [1])).toEqual([]);
    expect(await problems("validate", { items: [{ type: "string" }] }, [1])).toHaveLength(1);
  });

  it("checks formats it knows", async () => {
    const schema = { properties: { a: { format: "date-time" }, b: { format: "unheard-of" } } };
    expect(await problems("validate", schema, { a: "2026-01-01T00:00:00Z", b: "" })).toEqual([]);
    expect(await problems("validate", schema, { a: "yesterday" })).toHaveLength(1);
  });

  it("shows twenty mistakes at most, and of large inputs the first", async () => {
    const schema = { items: { type: "string" } };
    expect(
      await problems(
        "validate",
        schema,
        Array.from({ length: 100 }, () => 1),
      ),
    ).toHaveLength(20);
    expect(
      await problems(
        "validate",
        schema,
        Array.from({ length: 200_000 }, () => 1),
      ),
    ).toHaveLength(1);
  });

  it("matches patterns in linear time", async () => {
    const schema = { properties: { a: { pattern: "^(a+)+$" } }, patternProperties: { "^(b|b)*$": false } };
    expect(await problems("check_schema", schema)).toEqual([]);
    const input = { a: `${"a".repeat(50_000)}!`, [`${"b".repeat(50_000)}!`]: 1 };
    expect(await problems("validate", schema, input)).toEqual([
      { path: "/a", reason: 'must match pattern "^(a+)+$"' },
    ]);
  });

  it("reads patterns as the specification has them", async () => {
    const cases: [string, string, string][] = [
      ["^\\d{2}\\/[\\w\\-]+$", "12/a-b", "12/"],
      ["^\\u00e9$", "é", "e"],
      ["^(?<year>[0-9]{4})$", "2026", "26"],
      ["^\\p{Lu}$", "É", "é"],
      ["b", "abc", "ac"],
      ["^.$", "😀", "ab"],
    ];
    for (const [pattern, good, bad] of cases) {
      expect(await problems("validate", { pattern }, good), pattern).toEqual([]);
      expect(await problems("validate", { pattern }, bad), pattern).toHaveLength(1);
    }
  });

  it("survives schemas that never end", async () => {
    const schema = JSON.stringify({ $ref: "#" });
    const result = await sandbox.run("org", { input: "1", steps: [{ kind: "validate", schema }] });
    expect(result).toEqual({ results: [], output: "", limit: "crash" });
    const step = (index: number) => ({ $ref: `#/definitions/d${index + 1}` });
    const definitions: Record<string, unknown> = { d40: { type: "string" } };
    for (let index = 0; index < 40; index += 1)
      definitions[`d${index}`] = { allOf: [step(index), step(index)] };
    const doubling = { definitions, $ref: "#/definitions/d0" };
    expect(await problems("check_schema", doubling)).toEqual([]);
    const steps: Step[] = [{ kind: "validate", schema: JSON.stringify(doubling) }];
    expect((await impatient.run("org", { input: '"x"', steps })).limit).toBe("time");
  });

  it("keeps schemas of the same id apart", async () => {
    const id = "https://schemas.test/same";
    expect(await problems("validate", { $id: id, type: "string" }, 1)).toHaveLength(1);
    expect(await problems("validate", { $id: id, type: "number" }, 1)).toEqual([]);
  });

  it("runs nothing that a schema says", async () => {
    const evil = '"];globalThis.hacked=1;//`${1}\\';
    const schema = {
      $comment: evil,
      title: evil,
      properties: { [evil]: { const: evil, description: evil } },
      required: [evil],
      dependencies: { [evil]: [evil] },
      enum: [{ [evil]: evil }],
      format: evil,
      [evil]: evil,
    };
    expect(await problems("check_schema", schema)).toEqual([]);
    expect(await problems("validate", schema, { [evil]: evil })).toEqual([]);
    expect(await problems("validate", schema, { [evil]: 1 })).not.toEqual([]);
  });
});

describe("the sandbox", () => {
  it("has no thread before the first job and after a while without one", async () => {
    const own = createSandbox({ idleTime: 50 });
    expect(own.threads()).toBe(0);
    await own.run("a", { input: "1", steps: [{ kind: "run", program: "." }] });
    expect(own.threads()).toBe(1);
    await expect.poll(() => own.threads(), { timeout: 10_000 }).toBe(0);
    await own.run("a", { input: "1", steps: [{ kind: "run", program: "." }] });
    await own.close();
    expect(own.threads()).toBe(0);
  });

  it("serves owners in turn, and refuses one that has too much waiting", async () => {
    const own = createSandbox({ threads: 1, maxWaiting: 3 });
    const order: string[] = [];
    const submit = async (owner: string) => {
      await own.run(owner, { input: "1", steps: [{ kind: "run", program: "." }] });
      order.push(owner);
    };
    const jobs = [submit("a"), submit("a"), submit("a"), submit("a"), submit("b")];
    await expect(submit("a")).rejects.toThrow(SandboxBusy);
    await Promise.all(jobs);
    expect(order).toEqual(["a", "a", "b", "a", "a"]);
    await own.close();
  });

  it("ends what is under way when it is closed", async () => {
    const own = createSandbox({ threads: 1 });
    await own.run("a", { input: "1", steps: [{ kind: "run", program: "." }] });
    const endless = own.run("a", { input: "1", steps: [{ kind: "run", program: "repeat(empty)" }] });
    const waiting = own.run("a", { steps: [] });
    const refused = expect(waiting).rejects.toThrow("closed");
    const interrupted = expect(endless).rejects.toThrow(SandboxUnavailable);
    await own.close();
    await interrupted;
    await refused;
    await expect(own.run("a", { steps: [] })).rejects.toThrow(SandboxUnavailable);
  });
});
