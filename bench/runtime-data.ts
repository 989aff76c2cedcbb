import { form, send } from "./api.ts";
import { type Filling, withDatabase } from "./data.ts";
import { createOrganization, loadedArtifact, loadTrails, type Size } from "./process-data.ts";
import type { Server } from "./processes.ts";
import type { Sent } from "./requests.ts";

/** Names of the organizations with environments that are reported on. */
export const runtimeOrgs = {
  /** 5,000 trails with 10,000 artifacts and 100,000 attestations, some of which run. */
  runtime: "bench-runtime",
} as const;

const org = runtimeOrgs.runtime;
/** What was built there. */
export const built: Size = { org, flows: 50, trails: 100 };

/** Names of environments with 800 artifacts and 3 policies each. */
export const large = {
  steady: "large-steady",
  changing: "large-changing",
  replaced: "large-replaced",
} as const;

/** Names of environments with a history: many, or few snapshots of 20 artifacts. */
export const histories = { long: "history-long", short: "history-short" } as const;

const lengths: Record<string, number> = { [histories.long]: 10_000, [histories.short]: 100 };

const [ofLarge, ofHistory, ofCluster] = [800, 20, 50];
const clusters = 500;
const atOnce = 8;

const heading = "_schema: https://docs.kosli.com/schemas/policy/v1\nartifacts:\n";
/** Policies by name, as YAML. */
export const policies: Record<string, string> = {
  origin: `${heading}  provenance: {required: true, exceptions: [{if: "matches(artifact.name, '^registry.example/sidecar')"}]}\n`,
  trails: `${heading}  trail-compliance: {required: true, exceptions: [{if: "flow.tags.team == 'sandbox'"}]}\n`,
  checks: `${heading}  attestations:
${[1, 2, 3, 4].map((number) => `    - {type: generic, name: check-${number}}`).join("\n")}
    - {type: generic, name: gate-1, if: "flow.tags.team == 'payments'"}
`,
};

/** Gives the fingerprint of an artifact that was built. */
export function builtArtifact(index: number): string {
  return loadedArtifact(built, index).fingerprint;
}

function pod(built: Size, index: number, place: number): object {
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

/** Makes a report of a cluster that runs these artifacts of the loaded ones, a pod each. */
export function clusterReport(built: Size, environment: string, artifacts: readonly number[]): Sent {
  return {
    path: `/api/v2/environments/${built.org}/${environment}/report/K8S`,
    body: JSON.stringify({ artifacts: artifacts.map((index, place) => pod(built, index, place)) }),
  };
}

const report = (environment: string, artifacts: readonly number[]): Sent =>
  clusterReport(built, environment, artifacts);

/** Counts upwards. */
export function numbers(count: number, from = 0): number[] {
  return Array.from({ length: count }, (_, index) => from + index);
}

/** A report that is the same each time. */
export const steadyReport: Sent = report(large.steady, numbers(ofLarge));

const exchanged = 8;

/**
 * Reports to send in turn. From each to the next 8 of the 800 artifacts get a new version, and 8 others their old one
 * again.
 */
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

/** Reports of 500 clusters with 50 pods each. */
export const clusterReports: Sent[] = numbers(clusters).map((cluster) =>
  report(`cluster-${cluster}`, numbers(ofCluster, cluster * 7)),
);

/** Makes the report of one snapshot in a history: each has a new version of one artifact. */
function historyReport(environment: string, snapshot: number): Sent {
  const versions = numbers(ofHistory).map((place) => Math.floor((snapshot + place) / ofHistory));
  return report(
    environment,
    versions.map((version, place) => (version * ofHistory + place) % (built.flows * built.trails)),
  );
}

/** Makes the policies of an organization. */
export async function createPolicies(server: Server, org: string): Promise<void> {
  for (const [name, text] of Object.entries(policies)) {
    const policy = form("payload", { name, description: "" }, { policy_file: text });
    await send(server, "PUT", `/api/v2/policies/${org}`, policy);
  }
}

/** Makes a cluster, with policies. */
export async function createEnvironment(
  server: Server,
  org: string,
  name: string,
  attached: readonly string[],
): Promise<void> {
  const environment = { name, type: "K8S", description: "", policies: attached };
  await send(server, "PUT", `/api/v2/environments/${org}`, JSON.stringify(environment));
}

/** Sends a report. */
export async function sendReport(server: Server, { path, body }: Sent): Promise<void> {
  await send(server, "PUT", path, body);
}

async function fillHistory(server: Server, environment: string): Promise<void> {
  await createEnvironment(server, org, environment, ["origin"]);
  for (let snapshot = 0; snapshot < lengths[environment]!; snapshot += 1)
    await sendReport(server, historyReport(environment, snapshot));
}

async function fillClusters(server: Server): Promise<void> {
  const fillEvery = async (first: number): Promise<void> => {
    for (let cluster = first; cluster < clusters; cluster += atOnce) {
      await createEnvironment(server, org, `cluster-${cluster}`, ["origin"]);
      await sendReport(server, clusterReports[cluster]!);
    }
  };
  await Promise.all(numbers(atOnce).map(fillEvery));
}

/** The data that environments and snapshots are measured with. */
export const runtimeFilling: Filling = {
  name: "runtime",
  plan: JSON.stringify([built, lengths, policies, ofLarge, ofHistory, ofCluster, clusters]),
  sources: ["process-data.ts", "runtime-data.ts", "../src/domain/compliance"],
  fill: async (server) => {
    console.log(`Making ${org}`);
    await createOrganization(server, org);
    await withDatabase(server.dataDir, (db) => loadTrails(db, built));
    await createPolicies(server, org);
    for (const name of Object.values(large))
      await createEnvironment(server, org, name, Object.keys(policies));
    for (const first of [steadyReport, changingReports.at(-1)!, replacingReports[0]!])
      await sendReport(server, first);
    await Promise.all(Object.values(histories).map((name) => fillHistory(server, name)));
    await fillClusters(server);
  },
};
