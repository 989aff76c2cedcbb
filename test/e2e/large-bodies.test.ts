import { expect, it } from "vitest";

import { mebibyte } from "../../src/lib/units.ts";
import { look, watched } from "../support/loop-probe.ts";
import { initialAdminKey, startServer, withUsedDataDir } from "../support/server-process.ts";

/** A text that is made of pieces until it has about so many bytes. */
function filled(head: string, piece: string, tail: string, bytes: number): string {
  return head + piece.repeat(Math.floor((bytes - head.length - tail.length) / piece.length)) + tail;
}

function members(count: number, value: string): string {
  return `{${Array.from({ length: count }, (_, at) => `"k${at}":${value}`).join()}}`;
}

const suite = '{"name":"a","failures":0,"errors":0,"skipped":0,"total":10,"duration":1.50}';

/** A report of ten thousand artifacts with long names. */
const largest = JSON.stringify({
  artifacts: Array.from({ length: 10_000 }, (_, at) => ({
    digests: { [`${"x".repeat(900)}${at}`]: at.toString(16).padStart(64, "0") },
    creationTimestamp: at,
  })),
});

/** Bodies for a report of what runs on a server, with the status they are answered with. */
const reports: [string, string, number][] = [
  ["ten thousand artifacts", largest, 201],
  ["the same again", largest, 200],
  ["empty objects", filled('{"artifacts":[', "{},", "{}]}", 11 * mebibyte), 400],
  ["a million values", filled('{"artifacts":[', "{},", "{}]}", 2_900_000), 400],
  ["numbers", filled('{"artifacts":[', "1e9,", "1]}", 3_900_000), 400],
  ["lists in lists", filled('{"artifacts":[', `${"[".repeat(90)}${"]".repeat(90)},`, "1]}", 1_900_000), 400],
  ["long numbers", filled('{"artifacts":[', `${"9".repeat(1000)}.5,`, "1]}", 11 * mebibyte), 400],
  ["one number", `{"artifacts":${"9".repeat(11 * mebibyte)}}`, 400],
  ["too many members", members(1_000_000, "1").slice(0, 11 * mebibyte), 400],
  ["members that nobody knows", members(19_000, "1"), 400],
  ["objects of those", `{"artifacts":[${Array(40).fill(members(19_000, "1")).join()}]}`, 400],
  [
    "many digests in an artifact",
    `{"artifacts":[{"digests":${members(9_999, `"${"ab".repeat(32)}"`)},"creationTimestamp":1}]}`,
    201,
  ],
  [
    "nothing right",
    filled('{"artifacts":[', '{"digests":{"a":"b"},"creationTimestamp":"x"},', "1]}", 900_000),
    400,
  ],
  ["a large value in each wrong place", `{"artifacts":[${`[${"1,".repeat(9000)}1],`.repeat(100)}1]}`, 400],
  ["escapes", filled('{"artifacts":"', "\\u0041", '"}', 11 * mebibyte), 400],
  ["characters of two bytes", filled('{"artifacts":"', "é", '"}', 5 * mebibyte), 400],
  ["blanks", filled("{", " ", "}", 11 * mebibyte), 400],
];

/** Values of fields of attestations, by kind. */
const attestations: [string, string, string, number][] = [
  ["test results", "junit", `"junit_results":[${`${suite},`.repeat(125_000)}${suite}]`, 201],
  ["wrong test results", "junit", `"junit_results":[${'{"a":1},'.repeat(300_000)}1]`, 400],
  ["free JSON", "generic", `"is_compliant":true,"user_data":[${"{},".repeat(3_300_000)}1.0]`, 201],
  [
    "wrong approvers",
    "pull_request",
    `"git_provider":"github","pull_requests":[${Array(900)
      .fill(`{"url":"a","state":"b","approvers":[${"1,".repeat(900)}1]}`)
      .join()}]`,
    400,
  ],
];

it("reads the largest bodies without holding up others", async () => {
  await withUsedDataDir(async (dataDir) => {
    const server = await startServer(dataDir, watched);
    const headers = { authorization: `Bearer ${initialAdminKey(dataDir)}` };
    const listed = await fetch(`${server.url}/api/v2/organizations`, { headers });
    const [org] = (await listed.json()) as { name: string }[];
    const send = async (method: string, path: string, body: string | FormData): Promise<number> => {
      const type = typeof body === "string" ? { "content-type": "application/json" } : {};
      const url = `${server.url}/api/v2${path}`;
      const response = await fetch(url, { method, headers: { ...headers, ...type }, body });
      await response.arrayBuffer();
      return response.status;
    };
    const expectShort = async (
      what: string,
      act: () => Promise<unknown>,
      wanted: unknown,
      mostMs = 150,
    ): Promise<void> => {
      await look(server);
      const given = await act();
      const { longest } = await look(server);
      // Fifty are promised: what is measured here holds on a busy machine too.
      expect([what, given, longest < mostMs], `${what}: ${longest} ms`).toEqual([what, wanted, true]);
    };
    const environment = { name: "prod", type: "server", description: "" };
    await send("PUT", `/environments/${org!.name}`, JSON.stringify(environment));
    const report = (body: string) => send("PUT", `/environments/${org!.name}/prod/report/server`, body);
    for (const [what, body, status] of reports) await expectShort(what, () => report(body), status);
    for (const [what, kind, fields, status] of attestations) {
      const form = new FormData();
      form.set("data_json", `{"attestation_name":"check",${fields}}`);
      const path = `/attestations/${org!.name}/flow/trail/run/${kind}`;
      await expectShort(what, () => send("POST", path, form), status);
    }
    const wrong = reports.filter(([, , status]) => status === 400);
    // Together they are more than one caller may have in memory.
    const expected = async ([, body]: (typeof reports)[number]) => [400, 503].includes(await report(body));
    await expectShort(
      "all of them at once",
      () => Promise.all(wrong.map(expected)),
      wrong.map(() => true),
      250,
    );
    expect(await server.stop()).toBe(0);
  });
}, 600_000);
