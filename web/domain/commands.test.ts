import { execFileSync } from "node:child_process";

import fc from "fast-check";
import { describe, expect, it } from "vitest";

import {
  artifactCommand,
  attestationCommand,
  environmentCommand,
  quoted,
  reporterCommand,
  sampleCommit,
} from "./commands.ts";
import { attachCommand, policyCommand } from "./rule-commands.ts";

/** Lets a real shell split a command into its words, in place of running the program. */
function words(command: string, program: string): string[] {
  const script = `${program}() { for word in "$@"; do printf '%s\\0' "$word"; done; }; ${command}`;
  const env = { WAYBILL_KEY: "secret" };
  return execFileSync("/bin/sh", ["-c", script], { encoding: "utf8", env }).split("\0").slice(0, -1);
}

const place = { server: "https://waybill.example/base", org: "acme" };
const fingerprint = "a".repeat(64);

describe("commands", () => {
  it("quote any text as one word", () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 1 }).filter((text) => !text.includes("\0")),
        (text) => {
          expect(words(`show ${quoted(text)}`, "show")).toEqual([text]);
        },
      ),
      { numRuns: 60 },
    );
  });

  it("report an attestation to the trail it is wanted for, with the key out of the environment", () => {
    const wanted = {
      flow_name: "it's web",
      trail_name: "1/2",
      artifact_fingerprint: fingerprint,
      attestation_name: "tests",
      attestation_type: "junit",
    };
    const { curl, client } = attestationCommand(place, wanted);
    const sent = words(curl, "curl");
    expect(sent).toContain(`${place.server}/api/v2/attestations/acme/it's%20web/trail/1%2F2/junit`);
    expect(sent).toContain("Authorization: Bearer secret");
    const data: unknown = JSON.parse(sent.at(-1)?.replace("data_json=", "") ?? "");
    expect(data).toMatchObject({ attestation_name: "tests", artifact_fingerprint: fingerprint });
    expect(words(client ?? "", "kosli")).toEqual(
      expect.arrayContaining(["junit", "--flow", "it's web", "--trail", "1/2", "--fingerprint", fingerprint]),
    );
  });

  it("name what any attestation will do for, and the control of a decision", () => {
    const wanted = { flow_name: "web", trail_name: "1", attestation_name: "*", attestation_type: "*" };
    expect(attestationCommand(place, wanted).curl).toContain('"attestation_name":"generic"');
    const decision = { ...wanted, attestation_type: "decision", for_control: "C-1" };
    expect(attestationCommand(place, decision)).toMatchObject({ client: undefined });
    expect(attestationCommand(place, decision).curl).toContain('"control":"C-1"');
    const custom = { ...wanted, attestation_type: "custom:load test" };
    expect(words(attestationCommand(place, custom).client ?? "", "kosli")).toContain("load test");
  });

  it("report an artifact, and what runs in each type of environment but those made of others", () => {
    const artifact = { flow_name: undefined, fingerprint, filename: "web:1" };
    expect(words(artifactCommand(place, artifact).curl, "curl")).toContain("POST");
    for (const type of ["K8S", "ECS", "S3", "lambda", "server", "docker", "azure-apps", "cloud-run"]) {
      const command = reporterCommand(place, { name: "prod", type }, 1.5);
      expect(words(command?.curl ?? "", "curl")).toContain(
        `${place.server}/api/v2/environments/acme/prod/report/${type}`,
      );
    }
    expect(reporterCommand(place, { name: "prod", type: "logical" }, 1)).toBeUndefined();
    expect(environmentCommand(place, "prod", "K8S").client).toContain("create environment prod");
  });

  it("report what an artifact needs that is yet to be reported, for its name and commit", () => {
    const target = { artifact_name: "app", git_commit: sampleCommit };
    const wanted = {
      flow_name: "web",
      trail_name: "1",
      attestation_name: "tests",
      attestation_type: "junit",
    };
    const { curl, client, fillIn } = attestationCommand(place, { ...wanted, target });
    const data: unknown = JSON.parse(words(curl, "curl").at(-1)?.replace("data_json=", "") ?? "");
    expect(data).toMatchObject({ target_artifacts: ["app"], git_commit_info: { sha1: sampleCommit } });
    expect(words(client ?? "", "kosli")).toEqual(
      expect.arrayContaining(["--name", "app.tests", "--commit", sampleCommit]),
    );
    expect(fillIn).toBe("the test results and the commit");
    const known = { ...target, git_commit: "b".repeat(40) };
    expect(attestationCommand(place, { ...wanted, target: known }).fillIn).toBe("the test results");
  });

  it("send a policy as a file, and attach it", () => {
    const sent = words(policyCommand(place, "known-origin").curl, "curl");
    const file = sent.find((word) => word.startsWith("policy_file=")) ?? "";
    expect(file).toMatch(/^policy_file="_schema: [^"]+required: true\n";filename=policy\.yaml$/);
    expect(sent).toContain('payload={"name":"known-origin"}');
    const attached = words(attachCommand(place, "known-origin", "it's prod").curl, "curl");
    expect(attached).toContain("https://waybill.example/base/api/v2/environments/acme/it's%20prod/policies");
    expect(attached).toContain('{"policy_names":["known-origin"]}');
  });
});
