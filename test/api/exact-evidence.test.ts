import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody, fingerprintOf } from "../support/artifacts.ts";
import { jq, partsOf } from "../support/attestation-types.ts";
import type { Answer } from "../support/client.ts";
import { runPendingJobs } from "../support/jobs.ts";
import { analysis, deliver, newHook } from "../support/quality-server.ts";
import { bodyText, type Kind, kinds, lost } from "../support/exact-kinds.ts";
import { hardToKeep, hostileJson, hostileObject } from "../support/exact.ts";
import { amount } from "../support/thorough.ts";
import { uniqueName } from "../support/unique-name.ts";

let app: TestApp;
let org: TestOrg;
beforeAll(async () => {
  app = await startTestApp();
  org = await app.org();
});
afterAll(() => app.close());

const sha1 = "a".repeat(40);

async function sent(method: string, path: string, body: string | Record<string, string>): Promise<void> {
  const options =
    typeof body === "string"
      ? { payload: body, headers: { "content-type": "application/json" } }
      : { parts: body };
  const answer = await org.member.request(method, path, options);
  expect([answer.status, answer.text.slice(0, 300)]).toEqual([
    expect.any(Number),
    expect.stringMatching("OK"),
  ]);
}

async function attest(kind: Kind, raw: Record<string, string>, place = "flow/trail/run"): Promise<string> {
  const name = uniqueName("check");
  const text = bodyText({ attestation_name: name, ...kind.plain }, { ...kind.raw, ...raw });
  const path = `/attestations/${org.name}/${place}/${kind.kind}`;
  await sent("POST", path, kind.kind === "override" ? text : { data_json: text });
  return name;
}

async function got(path: string): Promise<Answer> {
  const answer = await org.reader.get(path);
  expect(answer.status, answer.text).toBe(200);
  return answer;
}

const annotations = '{"10": "x", "9":"\\u0041"}';
const common = { user_data: hardToKeep, annotations };

describe("recorded answer 21: evidence of an attestation comes back as it was written", () => {
  it.each(kinds)("of kind $kind, in reads, lists and search", async (kind) => {
    const commit = JSON.stringify({ sha1 });
    const name = await attest(kind, { ...common, git_commit_info: commit });
    const raw = { ...kind.raw, ...common };
    const read = await got(`/attestations/${org.name}/flow/trail/run/${name}`);
    expect(lost("a read", read.text, raw, kind.shown)).toEqual([]);
    const searches = [
      `/attestations/${org.name}?name=${name}`,
      `/attestations/${org.name}?attestation_id=${read.json[0].attestation_id}`,
      `/attestations/${org.name}/list_attestations_for_criteria?commit_list=${sha1}&attestation_name=${name}`,
      `/attestations/${org.name}/flow`,
    ];
    for (const path of searches) {
      const { status, text } = await org.reader.get(path);
      if (status === 200) expect(lost(path, text, raw, kind.shown)).toEqual([]);
      else expect([path, status]).toEqual([path, 200]);
    }
  });
});

describe("recorded answer 21: evidence of any text", () => {
  it("comes back to the character, whatever it is", async () => {
    const generic = kinds[0]!;
    await fc.assert(
      fc.asyncProperty(hostileObject, async (user_data) => {
        const name = await attest(generic, { user_data });
        const { text } = await got(`/attestations/${org.name}/flow/trail/run/${name}`);
        expect(lost("a read", text, { user_data })).toEqual([]);
      }),
      { numRuns: amount(25, 60) },
    );
  });

  it.each([
    ['{"a":"\\u0000"}', "Text must not contain NUL or unpaired surrogates"],
    ['{"a":"\\ud800x"}', "Text must not contain NUL or unpaired surrogates"],
    ['{"a":["\\udc00"]}', "Text must not contain NUL or unpaired surrogates"],
    ['{"a":{"__proto__":1}}', "The key __proto__ is not allowed"],
    ['{"\\u005f_proto__":1}', "The key __proto__ is not allowed"],
    [`${"[".repeat(101)}${"]".repeat(101)}`, "Nesting is deeper than 100 levels"],
    ['{"a":01}', "Syntax error"],
    ['{"a":.5}', "Syntax error"],
    ['{"a":1.}', "Syntax error"],
    ['{"a":+1}', "Syntax error"],
    ['{"a":NaN}', "Syntax error"],
    ['{"a":1,}', "Syntax error"],
    ["{'a':1}", "Syntax error"],
    ['{"a":"\n"}', "Syntax error"],
    ['{"a":"\\x"}', "Syntax error"],
    ['{"a" 1}', "Syntax error"],
  ])("is refused where it cannot be kept: %j", async (user_data, reason) => {
    const text = bodyText({ attestation_name: "refused", is_compliant: true }, { user_data });
    const path = `/attestations/${org.name}/flow/trail/refused/generic`;
    const { status, json } = await org.member.request("POST", path, { parts: { data_json: text } });
    expect([status, json.errors]).toEqual([400, { data_json: `Invalid JSON: ${reason} [input: …]` }]);
    const artifact = bodyText(artifactBody({ trail_name: "refused" }), { user_data });
    const answer = await org.member.request("POST", `/artifacts/${org.name}/flow`, {
      payload: artifact,
      headers: { "content-type": "application/json" },
    });
    expect([answer.status, answer.json.message]).toEqual([400, `Request body is not valid JSON: ${reason}`]);
    expect((await org.reader.get(`/trails/${org.name}/flow/refused`)).status).toBe(404);
  });

  it.each([
    ["data of the type JSON", "Content-Type: application/json", 201],
    ["data that a file brings", 'filename="data.json"', 201],
  ])("is kept in %s", async (_what, header, status) => {
    const name = uniqueName("typed");
    const text = bodyText({ attestation_name: name, is_compliant: true }, { user_data: hardToKeep });
    const head = header.startsWith("Content-Type") ? `\r\n${header}` : `; ${header}`;
    const payload = `--b\r\nContent-Disposition: form-data; name="data_json"${head}\r\n\r\n${text}\r\n--b--\r\n`;
    const headers = { "content-type": "multipart/form-data; boundary=b" };
    const answer = await org.member.request("POST", `/attestations/${org.name}/flow/trail/run/generic`, {
      payload,
      headers,
    });
    expect(answer.status).toBe(status);
    expect(
      lost("a read", (await got(`/attestations/${org.name}/flow/trail/run/${name}`)).text, {
        user_data: hardToKeep,
      }),
    ).toEqual([]);
  });

  it("is refused when it is not UTF-8, and no character takes the place of another", async () => {
    const payload = Buffer.concat([
      Buffer.from('--b\r\nContent-Disposition: form-data; name="data_json"\r\n\r\n'),
      Buffer.from('{"attestation_name":"latin","is_compliant":true,"user_data":{"a":"'),
      Buffer.from([0xe9]),
      Buffer.from('"}}\r\n--b--\r\n'),
    ]);
    const headers = { "content-type": "multipart/form-data; boundary=b" };
    const path = `/attestations/${org.name}/flow/trail/latin/generic`;
    const { status, json } = await org.member.request("POST", path, { payload, headers });
    expect([status, json.errors]).toEqual([
      400,
      { data_json: "Invalid JSON: Text is not valid UTF-8 [input: …]" },
    ]);
  });
});

async function customType(...rules: string[]): Promise<string> {
  const type = uniqueName("type");
  const parts = partsOf({ name: type, evaluator: jq(...rules) });
  const answer = await org.member.request("POST", `/custom-attestation-types/${org.name}`, { parts });
  expect(answer.status).toBe(201);
  return type;
}

describe("recorded answer 21: data of custom types", () => {
  const custom = (type_name: string): Kind => ({ kind: "custom", plain: { type_name }, raw: {} });

  it("come back as they were written, whatever they are", async () => {
    const type = custom(await customType());
    await fc.assert(
      fc.asyncProperty(hostileJson, async (attestation_data) => {
        const name = await attest(type, { attestation_data });
        const { text } = await got(`/attestations/${org.name}/flow/trail/run/${name}`);
        // Text that is JSON is taken for what it says.
        fc.pre(!attestation_data.startsWith('"'));
        expect(lost("a read", text, { attestation_data })).toEqual([]);
      }),
      { numRuns: amount(15, 40) },
    );
  });

  it("are taken for what they say when they are text, to the digit", async () => {
    const type = custom(await customType());
    const name = await attest(type, { attestation_data: JSON.stringify(` ${hardToKeep}\n`) });
    const { text } = await got(`/attestations/${org.name}/flow/trail/run/${name}`);
    expect(lost("a read", text, { attestation_data: hardToKeep })).toEqual([]);
  });

  it("are judged to the digit", async () => {
    const type = await customType(".n == 9007199254740993", '(.n | tojson) == "9007199254740993"');
    for (const [number, verdict] of [
      ["9007199254740993", true],
      ["9007199254740992", false],
    ] as const) {
      const name = await attest(custom(type), { attestation_data: `{"n":${number}}` });
      const { json } = await got(`/attestations/${org.name}/flow/trail/run/${name}`);
      expect([number, json[0].is_compliant, json[0].rule_results]).toEqual([
        number,
        verdict,
        expect.anything(),
      ]);
    }
  });
});

describe("recorded answer 21: what is said of trails and artifacts", () => {
  const repo_info = `{"name":"web","url":"https://git.example.com/web","id":"7","provider":"github","additional_info":${hardToKeep}}`;

  it("comes back in reads, lists and events of a trail", async () => {
    const flow = uniqueName("flow");
    const put = (user_data: string) =>
      sent("PUT", `/trails/${org.name}/${flow}`, {
        data_json: bodyText({ name: "run" }, { user_data, repo_info }),
      });
    await put(hardToKeep);
    const read = await got(`/trails/${org.name}/${flow}/run`);
    const raw = { user_data: hardToKeep, additional_info: hardToKeep };
    expect(lost("a trail", read.text, raw)).toEqual([]);
    expect(read.json.events[0].trail_data_json.user_data).toBe(hardToKeep);
    expect(
      lost("a list", (await got(`/trails/${org.name}/${flow}`)).text, { user_data: hardToKeep }),
    ).toEqual([]);
    expect(
      lost("a page", (await got(`/trails/${org.name}?flow=${flow}`)).text, { user_data: hardToKeep }),
    ).toEqual([]);
  });

  it("is an update of a trail only if it says something else, to the digit", async () => {
    const flow = uniqueName("flow");
    const put = (user_data: string) =>
      sent("PUT", `/trails/${org.name}/${flow}`, { data_json: bodyText({ name: "run" }, { user_data }) });
    const events = async () => (await got(`/trails/${org.name}/${flow}/run`)).json.events.length as number;
    await put('{"a":9007199254740993,"b":"\u00e9"}');
    await put('{"a":9007199254740993,"b":"\u00e9"}');
    await put('{ "b": "\\u00e9", "a":9007199254740993 }');
    expect(await events()).toBe(1);
    await put('{"a":9007199254740992,"b":"\u00e9"}');
    expect(await events()).toBe(2);
    await put('{"a":9007199254740992.0,"b":"\u00e9"}');
    expect(await events()).toBe(3);
    expect(
      lost("a trail", (await got(`/trails/${org.name}/${flow}/run`)).text, {
        user_data: '{"a":9007199254740992.0,"b":"\u00e9"}',
      }),
    ).toEqual([]);
  });

  it("comes back in reads and lists of an artifact", async () => {
    const flow = uniqueName("flow");
    const fingerprint = fingerprintOf();
    const body = artifactBody({ fingerprint, trail_name: "run", git_commit: sha1 });
    const raw = { user_data: hardToKeep, annotations: `{"2":${hardToKeep},"1":1e400}` };
    await sent("POST", `/artifacts/${org.name}/${flow}`, bodyText(body, { ...raw, repo_info }));
    for (const path of [
      `/artifacts/${org.name}/${flow}/fingerprint/${fingerprint}`,
      `/artifacts/${org.name}/${flow}/commit_sha/${sha1}`,
      `/artifacts/${org.name}?flow_name=${flow}`,
    ])
      expect(lost(path, (await got(path)).text, { ...raw, additional_info: hardToKeep })).toEqual([]);
    expect(
      lost("an event", (await got(`/trails/${org.name}/${flow}/run`)).text, {
        additional_info: hardToKeep,
      }),
    ).toEqual([]);
    expect(
      lost("a repo", (await got(`/repos/${org.name}/web`)).text, { additional_info: hardToKeep }),
    ).toEqual([]);
  });

  it("comes back in a decision on a control", async () => {
    const control = uniqueName("SC");
    expect(
      (await org.admin.post(`/controls/${org.name}`, { name: control, identifier: control })).status,
    ).toBe(201);
    const decision = { kind: "system", plain: { type_name: "decision", control }, raw: {} };
    const name = await attest(decision, { attestation_data: '{"is_compliant":true}', ...common });
    const { json } = await got(`/attestations/${org.name}/flow/trail/run/${name}`);
    const path = `/controls/${org.name}/${control}/decisions/${json[0].attestation_id}`;
    expect(lost("a decision", (await got(path)).text, common)).toEqual([]);
  });
});

/** The files of an audit package whose digests are as its manifest says. */
async function packageAt(path: string): Promise<string[]> {
  const answer = await app.server.inject({
    url: `/api/v2${path}`,
    headers: { authorization: `Bearer ${org.reader.key}` },
  });
  expect(answer.statusCode).toBe(200);
  const folder = mkdtempSync(join(tmpdir(), "waybill-exact-"));
  try {
    execFileSync("tar", ["-x", "-C", folder, "-f", "-"], { input: answer.rawPayload });
    const root = join(folder, readdirSync(folder)[0]!);
    execFileSync("sha256sum", ["--strict", "--quiet", "-c", "SHA256SUMS"], { cwd: root });
    return readdirSync(root, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".json"))
      .map((name) => readFileSync(join(root, name), "utf8"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

describe("recorded answer 21: audit packages", () => {
  it("hold what was reported as it was written, and digests of that", async () => {
    const flow = uniqueName("flow");
    const fingerprint = fingerprintOf();
    const raw = { user_data: hardToKeep, annotations: '{"2":"x","1":"y"}' };
    const body = artifactBody({ fingerprint, trail_name: "run", template_reference_name: "web" });
    await sent("POST", `/artifacts/${org.name}/${flow}`, bodyText(body, raw));
    for (const kind of kinds)
      await attest(kind, { ...raw, artifact_fingerprint: JSON.stringify(fingerprint) }, `${flow}/trail/run`);
    await sent("PUT", `/trails/${org.name}/${flow}`, {
      data_json: bodyText({ name: "run" }, { user_data: hardToKeep }),
    });
    const paths = [
      `/trails/${org.name}/${flow}/run/audit_package`,
      `/artifacts/${org.name}/${flow}/${fingerprint}/audit_package`,
    ];
    for (const path of paths) {
      const files = await packageAt(path);
      expect(files.length).toBeGreaterThanOrEqual(kinds.length + 1);
      for (const text of files) {
        expect(lost(path, text, { user_data: hardToKeep })).toEqual([]);
        expect(() => JSON.parse(text)).not.toThrow();
      }
      for (const kind of kinds)
        for (const [key, value] of Object.entries(kind.raw))
          expect(
            files.filter((text) => text.includes(`"${kind.shown?.[key] ?? key}": ${value}`)),
          ).toHaveLength(1);
    }
  });
});

describe("recorded answer 21: what a code-quality server delivers", () => {
  it("comes back as it was sent, without the scanner's properties", async () => {
    const webhook = await newHook(app);
    const sent = JSON.stringify({ ...analysis(), properties: undefined }).slice(0, -1);
    const more = `"own":${hardToKeep},"9":1.0`;
    const properties = `"properties":{"sonar.analysis.waybill_flow":"scans"}`;
    expect((await deliver(webhook.org.member, webhook, `${sent}, ${properties} ,${more}}`)).status).toBe(200);
    await runPendingJobs(app);
    const { text } = await webhook.org.reader.get(`/attestations/${webhook.org.name}?name=sonar`);
    expect(text).toContain(`"sonar_results":${sent} ,${more}}`);
  });
});

describe("evidence of 10 MB", () => {
  it("comes back as it was written", async () => {
    const rows = Array.from(
      { length: 90_000 },
      (_, id) =>
        `{"id":${id},"name":"component-${id}","v":1.0,"n":[1,2.50,null],"hash":"${"ab".repeat(20)}"}`,
    );
    const user_data = `{"rows":[${rows.join(",")}]}`;
    expect(user_data.length).toBeGreaterThan(9_000_000);
    expect(user_data.length).toBeLessThan(10_400_000);
    const kind = kinds[0]!;
    const name = await attest(kind, { user_data }, "flow/trail/large");
    const { text } = await got(`/attestations/${org.name}/flow/trail/large/${name}`);
    expect(text.includes(user_data)).toBe(true);
  });
});
