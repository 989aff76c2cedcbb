import { artifactEndpoints } from "../../src/contract/artifacts.ts";
import { attestationEndpoints } from "../../src/contract/attestations.ts";
import { environmentEndpoints } from "../../src/contract/environments.ts";
import { flowEndpoints } from "../../src/contract/flows.ts";
import { organizationEndpoints } from "../../src/contract/organizations.ts";
import { snapshotReportEndpoints } from "../../src/contract/snapshot-reports.ts";
import { trailEndpoints } from "../../src/contract/trails.ts";
import { sha256 } from "../../src/lib/hash.ts";
import type { Demo } from "../plan.ts";

const flow_name = "lamp-ci";
const env_name = "downloads";
const template =
  "version: 1\ntrail:\n  artifacts:\n    - name: lamp\n      attestations:\n        - {name: signed, type: generic}\n";

async function release(
  { api, now }: Demo,
  org: string,
  version: string,
): Promise<{ name: string; fingerprint: string }> {
  const name = `lamp-${version}.tgz`;
  const fingerprint = sha256(name).toString("hex");
  const params = { org, flow_name };
  await api.call(trailEndpoints.create_trail, {
    params,
    body: { name: version, description: `Lamp ${version}` },
  });
  await api.call(artifactEndpoints.create_artifact, {
    params,
    body: {
      fingerprint,
      filename: name,
      trail_name: version,
      template_reference_name: "lamp",
      git_commit: fingerprint.slice(0, 40),
      git_commit_info: {
        sha1: fingerprint.slice(0, 40),
        message: `Release ${version}`,
        author: "Lamp maintainers <lamp@harborlight.example>",
        branch: "main",
        timestamp: now - 7_200,
      },
      commit_url: `https://github.harborlight.example/lamp/commit/${fingerprint.slice(0, 40)}`,
      build_url: "https://github.harborlight.example/lamp/actions",
    },
  });
  await api.call(attestationEndpoints.post_generic_attestation, {
    params: { ...params, trail_name: version },
    body: {
      attestation_name: "signed",
      target_artifacts: ["lamp"],
      artifact_fingerprint: fingerprint,
      is_compliant: true,
    },
    files: { attachment_file: { filename: `${name}.sig`, text: `signature of ${fingerprint}\n` } },
  });
  return { name, fingerprint };
}

/** Makes a public organization for what the company gives away, which everybody may read. @returns its name. */
export function createOpenSource(demo: Demo): Promise<string> {
  const { api, now } = demo;
  const org = `${demo.org}-open`;
  return demo.progress.step("A public organization", 1, async (advance) => {
    await api.call(organizationEndpoints.create_organization, {
      body: {
        name: org,
        display_name: "Harborlight open source",
        description: "What the company gives away, and what proves it",
        public: true,
      },
    });
    await api.call(flowEndpoints.create_flow_with_template, {
      params: { org },
      body: { name: flow_name, description: "A library for lamps" },
      files: { template_file: { filename: "template.yml", text: template } },
    });
    await release(demo, org, "1.0.0");
    const { name, fingerprint } = await release(demo, org, "1.1.0");
    await api.call(environmentEndpoints.create_env, {
      params: { org },
      body: { name: env_name, type: "server", description: "Where everybody gets it" },
    });
    await api.call(snapshotReportEndpoints.server_report, {
      params: { org, env_name },
      body: {
        type: "server",
        artifacts: [{ digests: { [name]: fingerprint }, creationTimestamp: Math.floor(now) - 3_600 }],
      },
    });
    advance();
    return org;
  });
}
