import { commitOf, fingerprintOf, repoInfo } from "./artifacts.ts";
import type { OwnOrganization } from "./web-organization.ts";

/** A policy that asks where everything comes from. */
const policy =
  "_schema: https://waybill.test/schemas/policy/v1\nartifacts:\n  provenance:\n    required: true\n";

function formOf(
  field: string,
  data: object,
  file?: [name: string, fileName: string, text: string],
): FormData {
  const form = new FormData();
  form.append(field, JSON.stringify(data));
  if (file !== undefined) form.append(file[0], new Blob([file[2]]), file[1]);
  return form;
}

/** The fingerprint and the commit that every filled organization knows. */
export const knownFingerprint = fingerprintOf("web 1");
export const knownCommit = commitOf("web 1");

/** Reports an artifact, by number, to a flow. */
function reportArtifact(
  { ask, name }: OwnOrganization,
  flow: string,
  at: number,
  repo?: string,
): Promise<unknown> {
  return ask("POST", `/artifacts/${name}/${flow}`, {
    fingerprint: fingerprintOf(`web ${at}`),
    filename: `web:${at}`,
    trail_name: "build-1",
    template_reference_name: `app-${at}`,
    git_commit: commitOf(`web ${at}`),
    build_url: `https://ci.example.com/${at}`,
    commit_url: `https://git.example.com/c/${at}`,
    ...(repo === undefined ? {} : { repo_info: repoInfo(repo) }),
  });
}

/** Reports what runs: artifacts by number. */
function reportRunning(
  { ask, name }: OwnOrganization,
  env: string,
  from: number,
  to: number,
): Promise<unknown> {
  const artifacts = Array.from({ length: to - from }, (_, at) => ({
    digests: { [`registry.example.com/team/service-${from + at}`]: fingerprintOf(`web ${from + at}`) },
    creationTimestamp: 1_786_000_000 + at,
  }));
  return ask("PUT", `/environments/${name}/${env}/report/docker`, { artifacts });
}

/** Makes one of everything that has a page of its own, each with nothing in it. */
export async function makeBare(org: OwnOrganization): Promise<void> {
  const { ask, name, putPolicy } = org;
  await ask("PUT", `/environments/${name}`, { name: "quiet", type: "docker", description: "" });
  await ask("PUT", `/flows/${name}/template_file`, formOf("data_json", { name: "bare", description: "" }));
  await ask("PUT", `/trails/${name}/other`, formOf("data_json", { name: "build-1", description: "" }));
  await reportArtifact(org, "builds", 1, "web");
  await putPolicy("unused", policy);
  await ask("POST", `/controls/${name}`, { identifier: "CC-1", name: "Nobody decides" });
  await ask("POST", `/custom-attestation-types/${name}`, formOf("data_json", { name: "untried" }));
  await ask("PUT", `/actions/${name}/environments`, {
    name: "silent",
    environments: ["quiet"],
    triggers: ["ON_NON_COMPLIANT_ENV"],
    targets: [{ type: "WEBHOOK", webhook: "https://hooks.example.com/t0ken" }],
  });
}

/** Calls for each number up to a limit, some at a time. */
async function forEach(count: number, make: (at: number) => Promise<unknown>): Promise<void> {
  let next = 1;
  const work = async (): Promise<void> => {
    while (next <= count) await make(next++);
  };
  await Promise.all(Array.from({ length: 6 }, work));
}

/** Attestations of every second kind of verdict, and decisions. */
function attestMany({ ask, name }: OwnOrganization, count: number): Promise<void> {
  const place = `/attestations/${name}/busy/trail/build-1`;
  return forEach(count, (at) =>
    at % 2 === 0
      ? ask(
          "POST",
          `${place}/generic`,
          formOf("data_json", { attestation_name: `check-${at}`, is_compliant: at % 4 === 0 }),
        )
      : ask(
          "POST",
          `${place}/system`,
          formOf("data_json", {
            attestation_name: `decision-${at}`,
            type_name: "decision",
            control: "CC-1",
            attestation_data: { is_compliant: at % 3 === 0 },
          }),
        ),
  );
}

/** Makes more of what is built and what runs than lists show at a time. */
async function buildMany(org: OwnOrganization): Promise<void> {
  const { ask, name } = org;
  await forEach(60, (at) =>
    ask("PUT", `/environments/${name}`, { name: `env-${at}`, type: "docker", description: "" }),
  );
  await forEach(60, (at) =>
    ask("PUT", `/flows/${name}/template_file`, formOf("data_json", { name: `flow-${at}`, description: "" })),
  );
  await forEach(60, (at) =>
    ask("PUT", `/trails/${name}/busy`, formOf("data_json", { name: `build-${at}`, description: "" })),
  );
  for (let at = 1; at <= 60; at++) await reportArtifact(org, "busy", at, `team/web-${at}`);
  await forEach(60, (at) =>
    ask("POST", `/controls/${name}`, { identifier: `CC-${at}`, name: `Control number ${at}` }),
  );
  await attestMany(org, 110);
  // What runs is judged again with each report about it, so that it comes after these.
  await ask("PUT", `/environments/${name}`, { name: "busy", type: "docker", description: "Where much runs" });
  for (let at = 1; at <= 55; at++) await reportRunning(org, "busy", 1, 2 + (at % 2));
  await reportRunning(org, "busy", 1, 260);
}

/** Makes more of the rules, and of what is kept about an organization, than lists show at a time. */
async function ruleMany({ ask, name, putPolicy }: OwnOrganization): Promise<void> {
  await forEach(60, (at) => putPolicy(`policy-${at}`, policy));
  await forEach(60, (at) =>
    ask("POST", `/environments/${name}/env-${at}/policies`, { policy_names: ["policy-1"] }),
  );
  await forEach(40, (at) =>
    ask("POST", `/custom-attestation-types/${name}`, formOf("data_json", { name: `type-${at}` })),
  );
  await forEach(210, (at) =>
    ask("PUT", `/allowlists/${name}/env-2`, {
      artifact_name: `registry.example.com/team/service-${at}`,
      artifact_fingerprint: fingerprintOf(`web ${at}`),
      description: "Known for long",
    }),
  );
  await forEach(30, (at) =>
    ask("PUT", `/actions/${name}/environments`, {
      name: `tell-${at}`,
      environments: [`env-${at}`],
      triggers: ["ON_NON_COMPLIANT_ENV"],
      targets: [{ type: "WEBHOOK", webhook: "https://hooks.example.com/t0ken" }],
    }),
  );
  await forEach(40, (at) =>
    ask("POST", `/service-accounts/${name}`, { name: `robot-${at}`, privilege: "reader" }),
  );
  await forEach(30, (at) => ask("POST", `/spaces/${name}`, { name: `Team ${at}` }));
  await forEach(25, (at) =>
    ask("POST", `/members/${name}/invitations`, { user: `${name}-guest-${at}`, role: "reader" }),
  );
}

/** Makes more of everything than its lists show at a time. */
export async function makeMany(org: OwnOrganization): Promise<void> {
  await buildMany(org);
  await ruleMany(org);
}

/** Makes a service account, and a key of it. @returns the key. */
export async function makeKey({ ask, name }: OwnOrganization, privilege: string): Promise<string> {
  await ask("POST", `/service-accounts/${name}`, { name: `${privilege}-robot`, privilege });
  const { key } = await ask<{ key: string }>(
    "POST",
    `/service-accounts/${name}/${privilege}-robot/api-keys`,
    {
      description: "a test's",
    },
  );
  return key;
}
