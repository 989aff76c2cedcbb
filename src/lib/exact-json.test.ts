import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { hardToKeep, hostileJson } from "../../test/support/exact.ts";
import { ExactJson, writeJson } from "./exact-json.ts";
import { JsonError, parseJson, parseJsonInTurns, type Places } from "./json.ts";
import { saysTheSame } from "./same-json.ts";
import { withoutMember } from "./without-member.ts";

const exact: Places = { exact: "written" };
const places: Places = {
  members: new Map<string, Places>([
    ["a", exact],
    ["list", { items: { members: new Map([["b", exact]]) } }],
    ["packed", { exact: "unpacked" }],
  ]),
};

function read(text: string): Promise<unknown> {
  return parseJsonInTurns(Buffer.from(text), places);
}

describe("JSON that is read exactly", () => {
  it("is the text at its places, and what everybody reads elsewhere", async () => {
    await fc.assert(
      fc.asyncProperty(hostileJson, async (json) => {
        const text = `{"other":${json} ,"a": ${json},"list":[{"b":${json}},1,{"b":null}],"a2":{"a":${json}}}`;
        const plain = JSON.parse(json) as unknown;
        const kept = json === "null" ? null : ExactJson.ofText(json);
        const value = (await read(text)) as { a: unknown; list: { b: unknown }[] };
        expect([value.a, value.list[0]?.b].map((one) => one instanceof ExactJson && one.text)).toEqual(
          kept === null ? [false, false] : [json, json],
        );
        expect(value).toMatchObject({ other: plain, list: [{}, 1, { b: null }], a2: { a: plain } });
        expect(writeJson(value)).toContain(`"a":${json}`);
      }),
    );
  });

  it("is accepted where JSON.parse accepts it, and nowhere else", async () => {
    const pieces = fc.constantFrom(
      ...Array.from('{}[],:"\\ \n01-.eE+tfn'),
      "true",
      "null",
      '"a"',
      '"a":',
      "\\u12",
      "1.5e3",
    );
    const texts = fc.oneof(
      fc.array(pieces, { maxLength: 12 }).map((all) => all.join("")),
      fc.tuple(hostileJson, fc.nat(), pieces).map(([json, at, piece]) => {
        const place = at % (json.length + 1);
        return json.slice(0, place) + piece + json.slice(place + 1);
      }),
    );
    const outcome = async (parse: () => unknown) => {
      try {
        await parse();
        return "accepted";
      } catch (error) {
        // Of several faults either may be told first.
        return error instanceof JsonError ? "refused" : error;
      }
    };
    await fc.assert(
      fc.asyncProperty(texts, async (text) => {
        const bytes = Buffer.from(`{"a":${text}}`);
        expect(await outcome(() => parseJsonInTurns(bytes, places))).toBe(
          await outcome(() => parseJson(bytes)),
        );
      }),
      { numRuns: 2000 },
    );
  });

  it("takes text that is JSON for what it says where that is wanted", async () => {
    const packed = async (text: string) =>
      ((await read(`{"packed":${JSON.stringify(text)}}`)) as { packed: ExactJson }).packed.text;
    expect(await packed(` ${hardToKeep}\n`)).toBe(hardToKeep);
    for (const text of ["", "text", "{", "01"]) expect(await packed(text)).toBe(JSON.stringify(text));
  });

  it("of several members of one name has the last one", async () => {
    expect(writeJson(await read('{"a":1.0,"a":2.0}'))).toBe('{"a":2.0}');
  });

  it("is written by nothing that would not keep it", () => {
    expect(() => JSON.stringify({ a: ExactJson.ofText("1.0") })).toThrow("writeJson");
    expect(writeJson({ a: [ExactJson.ofText("1.0"), "$&", '"\\u00000"', ExactJson.ofText('"$1"')] })).toBe(
      String.raw`{"a":[1.0,"$&","\"\\u00000\"","$1"]}`,
    );
  });
});

describe("two JSON texts", () => {
  it.each([
    ['{"a":1,"b":[2]}', '{ "b" : [2],\n"a":1 }', true],
    ['{"a":"é\\/"}', '{"\\u0061":"\\u00e9/"}', true],
    ["9007199254740993", "9007199254740992", false],
    ["1.0", "1", false],
    ["1e400", "1e401", false],
    ["[1,2]", "[2,1]", false],
    ['{"a":1,"a":2}', '{"a":2,"a":1}', false],
    ['{"a":1,"a":2}', '{"a":2}', false],
    ['"1"', "1", false],
    ["{}", "[]", false],
    [`["${"x".repeat(600_000)}"]`, `[ "${"x".repeat(600_000)}"]`, false],
  ])("%.40s and %.40s say the same: %s", (left, right, same) => {
    expect([saysTheSame(left, right), saysTheSame(right, left)]).toEqual([same, same]);
  });

  it("say the same as themselves, however they are spaced", () => {
    fc.assert(
      fc.property(hostileJson, (json) => {
        expect(saysTheSame(json, `\t${json} `)).toBe(true);
      }),
    );
  });
});

describe("an object without members of a name", () => {
  it.each([
    ['{"p":1}', "{}"],
    ['{ "p" : {"p":1} , "a":1.0}', '{ "a":1.0}'],
    ['{"a":1.0 , "p":null}', '{"a":1.0 }'],
    ['{"a":1.0,"p":[","],"b":{"p":2}}', '{"a":1.0,"b":{"p":2}}'],
    ['{"p":1,"\\u0070":2,"a":"p","p":"\\"p"}', '{"a":"p"}'],
    ['{"a":{"p":1}}', '{"a":{"p":1}}'],
  ])("%s is %s", (text, rest) => {
    expect(withoutMember(text, "p")).toBe(rest);
  });
});
