import { execFileSync } from "node:child_process";

import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { fileNameOf } from "./answers.ts";
import { clientCommandOf } from "./client-commands.ts";
import { requestCommand } from "./request-commands.ts";
import { formParts, requestPath } from "./requests.ts";

/** Lets a real shell split a command into its words, in place of running the program. */
function words(command: string | undefined, program: string): string[] {
  const script = `${program}() { for word in "$@"; do printf '%s\\0' "$word"; done; }; ${command ?? ""}`;
  const env = { WAYBILL_KEY: "secret" };
  return execFileSync("/bin/sh", ["-c", script], { encoding: "utf8", env, cwd: "/tmp" })
    .split("\0")
    .slice(0, -1);
}

const place = { server: "https://waybill.example/base", org: "acme" };
const anyText = fc.string({ unit: "binary", minLength: 1 }).filter((text) => !text.includes("\0"));
const client = (operation: string, params: object, query: object = {}): string | undefined =>
  clientCommandOf(place, { operation, input: { params: { ...params }, query: { ...query } } });

describe("a request", () => {
  it("has an address from which its values can be read again, whatever they are", () => {
    fc.assert(
      fc.property(anyText, anyText, fc.array(anyText), (name, repo, tags) => {
        const path = requestPath({
          operation: "GET /things/{name}/{repo...}",
          input: { params: { name, repo }, query: { tag: tags, page: 2, none: undefined, empty: "" } },
        });
        const { pathname, searchParams } = new URL(path, "http://x");
        const [, , one, ...rest] = path.split("?")[0]!.split("/");
        expect(decodeURIComponent(one!)).toBe(name);
        expect(rest.map(decodeURIComponent).join("/")).toBe(repo);
        expect(pathname).not.toContain("?");
        expect(searchParams.getAll("tag")).toEqual(tags.map((tag) => tag.toWellFormed()));
        expect([...searchParams.keys()].filter((key) => key !== "tag")).toEqual(["page"]);
      }),
      { examples: [] },
    );
  });

  it("is written for curl such that a shell gives it back", () => {
    fc.assert(
      fc.property(anyText, fc.jsonValue(), (name, value) => {
        const asking = {
          operation: "PATCH /things/{name}",
          input: { params: { name }, query: { q: name }, body: { value } },
        };
        const { curl, json } = requestCommand(place, asking);
        const sent = words(curl, "curl");
        expect(sent).toContain(`${place.server}/api/v2${requestPath(asking)}`);
        expect(sent).toContain("Authorization: Bearer secret");
        expect(sent[sent.indexOf("-X") + 1]).toBe("PATCH");
        expect(JSON.parse(sent.at(-1)!)).toEqual(JSON.parse(json!));
      }),
      { numRuns: 40 },
    );
  });

  it("gives its form field by field, its file with what is in it", async () => {
    const form = new FormData();
    form.append("payload", JSON.stringify({ name: "it's", comment: 'a "b"' }));
    form.append("policy_file", new File(["a: 'b'\n\"c\": \\d\n"], "policy.yaml"));
    const command = requestCommand(
      place,
      { operation: "PUT /policies/{org}", input: { params: { org: "acme" }, body: form } },
      await formParts(form),
    );
    const sent = words(command.curl, "curl");
    expect(sent).toContain(`payload={"name":"it's","comment":"a \\"b\\""}`);
    expect(sent.at(-1)).toBe(`policy_file="a: 'b'\n\\"c\\": \\\\d\n";filename=policy.yaml`);
    expect(JSON.parse(command.json!)).toEqual({
      payload: { name: "it's", comment: 'a "b"' },
      policy_file: "a: 'b'\n\"c\": \\d\n",
    });
    const [file, ...kosli] = command.client!.split("\n").slice(-4).join("\n").split("kosli ");
    expect(file).toContain("> policy.yaml");
    expect(kosli.join("")).toMatch(/^create policy 'it'\\''s' policy.yaml/);
  });

  it("names a file that every system takes", () => {
    fc.assert(
      fc.property(anyText, (name) => {
        expect(fileNameOf({ operation: "GET /things/{name}", input: { params: { name } } })).toMatch(
          /^[\w~](?:[\w.~-]*[\w~])?\.json$/,
        );
      }),
    );
  });
});

describe("the client's command", () => {
  it("asks what the page asks", () => {
    expect(
      words(
        client(
          "GET /environments/{org}",
          { org: "acme" },
          { name: "it's", type: ["K8S"], tag: ["a:b"], include: ["summary"], page: 2, per_page: 50 },
        ),
        "kosli",
      ),
    ).toEqual([
      ..."list environments --page 2 --page-limit 50 --name it's --tag a:b --type K8S --output json".split(
        " ",
      ),
      ...`--host ${place.server} --org acme --api-token secret`.split(" "),
    ]);
    const env = { org: "acme", env_name: "prod" };
    const of = (snapshot_expression: string): string[] =>
      words(
        client(
          "GET /snapshots/{org}/{env_name}/{snapshot_expression}",
          { ...env, snapshot_expression },
          { rules: "once", max_artifacts: 5 },
        ),
        "kosli",
      );
    expect(of("-1")[2]).toBe("prod");
    expect(of("7")[2]).toBe("prod#7");
    expect(of("-3")[2]).toBe("prod~2");
    expect(of("@{2.days.ago}")[2]).toBe("prod@{2.days.ago}");
    expect(
      words(
        client(
          "GET /asserts/{org}/fingerprint/{fingerprint}",
          { org: "acme", fingerprint: "ab" },
          { policy_name: ["a,b", "c"] },
        ),
        "kosli",
      ),
    ).toEqual(expect.arrayContaining(["--policy", '"a,b"', "c"]));
  });

  it("is not there where it would say something else", () => {
    // A filter that it does not know.
    expect(client("GET /environments/{org}", { org: "acme" }, { state: ["COMPLIANT"] })).toBeUndefined();
    // A name that it would take for an expression, and one that it would not escape.
    expect(
      client("GET /snapshots/{org}/{env_name}/{snapshot_expression}", {
        org: "acme",
        env_name: "a~b",
        snapshot_expression: "1",
      }),
    ).toBeUndefined();
    expect(client("GET /flows/{org}/{flow_name}", { org: "acme", flow_name: "a/b" })).toBeUndefined();
    expect(client("GET /flows/{org}/{flow_name}", { org: "acme", flow_name: "-o" })).toBeUndefined();
    // An operation that it has nothing for.
    expect(client("GET /running/{org}", { org: "acme" })).toBeUndefined();
    const patch = {
      operation: "PATCH /service-accounts/{org}/{name}",
      input: { params: { org: "acme", name: "ci" } },
    };
    expect(clientCommandOf(place, patch, { description: "" })).toBeUndefined();
  });

  it("says what is sent", () => {
    const send = (operation: string, params: object, body: object): string[] =>
      words(
        clientCommandOf(place, { operation, input: { params: { org: "acme", ...params } } }, body),
        "kosli",
      );
    const fingerprint = "a".repeat(64);
    expect(
      send(
        "PUT /allowlists/{org}/{env_name}",
        { env_name: "prod" },
        { artifact_name: "it's", artifact_fingerprint: fingerprint, description: "because" },
      ).slice(0, 9),
    ).toEqual([
      "allow",
      "artifact",
      "it's",
      "--environment",
      "prod",
      "--fingerprint",
      fingerprint,
      "--reason",
      "because",
    ]);
    expect(
      send(
        "POST /environments/{org}/{env_name}/policies",
        { env_name: "prod" },
        { policy_names: ["p"] },
      ).slice(0, 4),
    ).toEqual(["attach-policy", "p", "--environment", "prod"]);
    expect(
      send(
        "POST /attestations/{org}/{flow_name}/trail/{trail_name}/override",
        { flow_name: "f", trail_name: "t" },
        {
          attestation_name: "n",
          reason: "r",
          new_compliance_status: false,
          original_attestation_type: "junit",
        },
      ),
    ).toContain("--new-compliance-status=false");
    expect(
      send(
        "POST /service-accounts/{org}/{name}/api-keys",
        { name: "ci" },
        { description: "x", expires_at: 0 },
      ),
    ).not.toContain("--expires-at");
  });
});
