import multipart from "@fastify/multipart";
import fc from "fast-check";
import Fastify from "fastify";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { readLoneField } from "./lone-field.ts";

/** A part as the library reads it. */
interface ReadPart {
  type: string;
  name: string;
  /** Hexadecimal. */
  bytes: string;
}

const app = Fastify();
beforeAll(async () => {
  await app.register(multipart);
  app.post("/", async (request) => {
    const parts: ReadPart[] = [];
    const isPartAFile = (
      name: string | undefined,
      type: string | undefined,
      file: string | undefined,
    ): boolean => name === "data_json" || type === "application/octet-stream" || file !== undefined;
    for await (const part of request.parts({ isPartAFile })) {
      const bytes = part.type === "file" ? await part.toBuffer() : Buffer.from(String(part.value));
      parts.push({ type: part.type, name: part.fieldname, bytes: bytes.toString("hex") });
    }
    return parts;
  });
});
afterAll(() => app.close());

async function readByLibrary(body: Buffer, contentType: string): Promise<ReadPart[] | number> {
  const answer = await app.inject({
    method: "POST",
    url: "/",
    headers: { "content-type": contentType },
    body,
  });
  return answer.statusCode === 200 ? answer.json() : answer.statusCode;
}

const boundary = "x-6f1b";
const disposition = 'content-disposition: form-data; name="data_json"';

function formOf(json: string, head = disposition, end = `\r\n--${boundary}--\r\n`): Buffer {
  return Buffer.from(`--${boundary}\r\n${head}\r\n\r\n${json}${end}`);
}

const contentType = `multipart/form-data; boundary=${boundary}`;

describe("a form of one field", () => {
  it.each([
    [
      "as browsers write it",
      formOf('{"a":1}', 'Content-Disposition: form-data; name="data_json"'),
      contentType,
    ],
    ["with its type", formOf('{"a":1}', `${disposition}\r\nContent-Type: application/json`), contentType],
    ["without a line's end after it", formOf('{"a":1}', disposition, `\r\n--${boundary}--`), contentType],
    ["with its boundary in quotes", formOf('{"a":1}'), `multipart/form-data; boundary="${boundary}"`],
  ])("is read %s", (_how, body, type) => {
    expect(readLoneField(body, type, "data_json")?.toString()).toBe('{"a":1}');
  });

  it.each([
    [
      "with another part",
      formOf("{}", disposition, `\r\n--${boundary}\r\n${disposition}\r\n\r\n{}\r\n--${boundary}--\r\n`),
    ],
    ["of another name", formOf("{}", 'content-disposition: form-data; name="other"')],
    ["that is a file", formOf("{}", `${disposition}; filename="a.json"`)],
    ["in another encoding", formOf("{}", `${disposition}\r\ncontent-transfer-encoding: base64`)],
    ["that breaks off", formOf("{}", disposition, "")],
    ["without anything in it", formOf("")],
    ["with something after it", formOf("{}", disposition, `\r\n--${boundary}--\r\nmore`)],
  ])("is left to the library %s", (_how, body) => {
    expect(readLoneField(body, contentType, "data_json")).toBeUndefined();
  });

  it("is read as the library reads it, whatever it looks like", { timeout: 60_000 }, async () => {
    const piece = fc.constantFrom(
      `--${boundary}`,
      "--",
      "\r\n",
      "\r",
      "\n",
      "-",
      boundary,
      disposition,
      'Content-Disposition: form-data; name="data_json"',
      'content-disposition: form-data; name="data_json"; filename="a"',
      'content-disposition: form-data; name="attachment_file"; filename="a"',
      "content-type: application/json",
      "Content-Type: text/plain; charset=utf-8",
      "content-transfer-encoding: base64",
      '{"a":1}',
      "\u00e9",
      "\0",
      " ",
    );
    const noise = fc.array(piece, { maxLength: 4 }).map((pieces) => pieces.join(""));
    const whole = fc.record({
      before: noise,
      head: noise,
      json: noise,
      end: noise,
      after: noise,
      plain: fc.boolean(),
    });
    let read = 0;
    await fc.assert(
      fc.asyncProperty(whole, fc.nat(4), async ({ before, head, json, end, after, plain }, odd) => {
        // Right but for one place, so that most come close to being read.
        const only = (at: number, text: string, right: string): string =>
          odd === at && !plain ? text : right;
        const body = Buffer.from(
          `${only(0, before, "")}--${boundary}\r\n${only(1, head, disposition)}\r\n\r\n{"b":${json}}` +
            `${only(2, end, `\r\n--${boundary}`)}--${only(3, after, "\r\n")}`,
        );
        const field = readLoneField(body, contentType, "data_json");
        if (field === undefined) return;
        read += 1;
        const part = { type: "file", name: "data_json", bytes: field.toString("hex") };
        expect(await readByLibrary(body, contentType)).toEqual([part]);
      }),
      { numRuns: 2000 },
    );
    expect(read).toBeGreaterThan(200);
  });
});
