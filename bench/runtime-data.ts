import { withDatabase, type Filling } from "./data.ts";
import type { Sent } from "./requests.ts";
import { createOrganization, loadedArtifact, loadTrails, type Size } from "./process-data.ts";
import type { Server } from "./processes.ts";

/** The organizations with environments that are reported on. */
export const runtimeOrgs = {
  /** 5,000 trails with 10,000 artifacts and 100,000 attestations, and what of it runs. */
  runtime: "bench-runtime",
} as const;

const org = runtimeOrgs.runtime;
const built: Size = { org, flows: 50, trails: 100 };

/** Environments with 800 artifacts and 3 policies each. */
export const large = {
  steady: "large-steady",
  changing: "large-changing",
  replaced: "large-replaced",
} as const;

/** Environments with so many snapshots of 20 artifacts. */
export const histories = { long: "history-long", short: "history-short" } as const;

const lengths: Record<string, number> = { [histories.long]: 10_000, [histories.short]: 100 };

const [ofLarge, ofHistory, ofCluster] = [800, 20, 50];
const clusters = 500;
const atOnce = 8;

const heading = "_schema: https://docs.kosli.com/schemas/policy/v1\nartifacts:\n";
const policies: Record<string, string> = {
  origin: `${heading}  provenance: {required: true, exceptions: [{if: "matches(artifact.name, '^registry.example/sidecar')"}]}\n`,
  trails: `${heading}  trail-compliance: {required: true, exceptions: [{if: "flow.tags.team == 'sandbox'"}]}\n`,
  checks: `${heading}  attestations:
${[1, 2, 3, 4].map((number) => `    - {type: generic, name: check-${number}}`).join("\n")}
    - {type: generic, name: gate-1, if: "flow.tags.team == 'payments'"}
`,
};

/** An artifact that was built. */
export function builtArtifact(index: number): string {
  return loadedArtifact(built, index).fingerprint;
}

function pod(index: number, place: number): object {
  const { fingerprint, filename, flow } = loadedArtifact(built, index);
  const app = `${flow}-${place}`;
  const owner = {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    name: app,
    uid: `uid-${place}`,
    controller: true,
  };
  return {
    podName: `${app}-${index}`,
    namespace: `team-${place % 20}`,
    digests: { [`registry.example/${flow}/${filename}`]: fingerprint },
    creationTimestamp: 1_780_000_000 + place,
    owners: [{ ...owner, blockOwnerDeletion: true }],
  };
}

function reportPath(environment: string): string {
  return `/api/v2/environments/${org}/${environment}/report/K8S`;
}

function report(environment: string, artifacts: readonly number[]): Sent {
  return {
    path: reportPath(environment),
    body: JSON.stringify({ artifacts: artifacts.map((index, place) => pod(index, place)) }),
  };
}

function numbers(count: number, from = 0): number[] {
  return Array.from({ length: count }, (_, index) => from + index);
}

/** A report that says the same each time. */
export const steadyReport: Sent = report(large.steady, numbers(ofLarge));

const exchanged = 8;

/** Reports that go round. From each to the next 8 of the 800 artifacts get a new version, and 8 their old one again. */
export const changingReports: Sent[] = numbers(20).map((turn) =>
  report(
    large.changing,
    numbers(ofLarge).map((place) => (Math.floor(place / exchanged) === turn ? ofLarge + place : place)),
  ),
);

/** Reports that have nothing in common. */
export const replacingReports: Sent[] = [0, 1].map((turn) =>
  report(large.replaced, numbers(ofLarge, turn * ofLarge)),
);

/** What 500 clusters with 50 pods each report. */
export const clusterReports: Sent[] = numbers(clusters).map((cluster) =>
  report(`cluster-${cluster}`, numbers(ofCluster, cluster * 7)),
);

/** What ran in an environment with a history: each snapshot has a new version of one of its artifacts. */
function historyReport(environment: string, snapshot: number): Sent {
  const versions = numbers(ofHistory).map((place) => Math.floor((snapshot + place) / ofHistory));
  return report(
    environment,
    versions.map((version, place) => (version * ofHistory + place) % (built.flows * built.trails)),
  );
}

/** Sends something to the API. @throws when the answer is not a success. */
export async function send(
  server: Pick<Server, "url" | "key">,
  method: string,
  path: string,
  body: string | FormData,
): Promise<number> {
  const response = await fetch(server.url + path, {
    method,
    headers: {
      authorization: `Bearer ${server.key}`,
      ...(typeof body === "string" ? { "content-type": "application/json" } : {}),
    },
    body,
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path} was answered ${response.status}: ${text}`);
  return response.status;
}

async function createPolicies(server: Server): Promise<void> {
  for (const [name, text] of Object.entries(policies)) {
    const form = new FormData();
    form.set("payload", JSON.stringify({ name, description: "" }));
    form.set("policy_file", new Blob([text]), "policy.yaml");
    await send(server, "PUT", `/api/v2/policies/${org}`, form);
  }
}

async function createEnvironment(server: Server, name: string, attached: readonly string[]): Promise<void> {
  const environment = { name, type: "K8S", description: "", policies: attached };
  await send(server, "PUT", `/api/v2/environments/${org}`, JSON.stringify(environment));
}

async function sendReport(server: Server, { path, body }: Sent): Promise<void> {
  await send(server, "PUT", path, body);
}

async function fillHistory(server: Server, environment: string): Promise<void> {
  await createEnvironment(server, environment, ["origin"]);
  for (let snapshot = 0; snapshot < lengths[environment]!; snapshot += 1)
    await sendReport(server, historyReport(environment, snapshot));
}

async function fillClusters(server: Server): Promise<void> {
  const fillEvery = async (first: number): Promise<void> => {
    for (let cluster = first; cluster < clusters; cluster += atOnce) {
      await createEnvironment(server, `cluster-${cluster}`, ["origin"]);
      await sendReport(server, clusterReports[cluster]!);
    }
  };
  await Promise.all(numbers(atOnce).map(fillEvery));
}

/** What is measured at run time. */
export const runtimeFilling: Filling = {
  name: "runtime",
  plan: JSON.stringify([built, lengths, policies, ofLarge, ofHistory, ofCluster, clusters]),
  sources: ["process-data.ts", "runtime-data.ts", "../src/domain/compliance"],
  fill: async (server) => {
    console.log(`Making ${org}`);
    await createOrganization(server, org);
    await withDatabase(server.dataDir, (db) => loadTrails(db, built));
    await createPolicies(server);
    for (const name of Object.values(large)) await createEnvironment(server, name, Object.keys(policies));
    for (const first of [steadyReport, changingReports.at(-1)!, replacingReports[0]!])
      await sendReport(server, first);
    await Promise.all(Object.values(histories).map((name) => fillHistory(server, name)));
    await fillClusters(server);
  },
};
