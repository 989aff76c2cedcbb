import { createHash } from "node:crypto";

import { form, send } from "../api.ts";
import { withDatabase } from "../data.ts";
import { createOrganization, loadTrails, type Size } from "../process-data.ts";
import type { Server } from "../processes.ts";
import {
  clusterReport,
  createEnvironment,
  createPolicies,
  numbers,
  policies,
  sendReport,
} from "../runtime-data.ts";

/** How much the pages show. */
export const shown = {
  artifacts: 800,
  /** Of the matrix of trails and what is asked of them. */
  trails: 50,
  attestations: 30,
} as const;

/** How many snapshots the environment has whose latest one is shown. */
export const snapshotCounts = { full: 200, small: 10 } as const;

const atOnce = 8;
const turns = 20;
/** Other artifacts in each snapshot. */
const exchanged = 8;

/** Names that pages are opened by. */
export interface WebNames {
  org: string;
  /** Environments with 800 artifacts each, none of them in both. */
  environment: string;
  other: string;
  /** A flow with 50 trails that are asked for 30 attestations each. */
  flow: string;
}

const named = { environment: "production", other: "staging", flow: "matrix" } as const;

/** Runs as many at once as pipelines do. */
async function each<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const left = items.values();
  await Promise.all(
    numbers(atOnce).map(async () => {
      for (const item of left) await work(item);
    }),
  );
}

const attestationName = (number: number): string => `check-${number + 1}`;

/** Makes the flow whose trails have nearly everything that is asked of them. */
async function fillMatrix(server: Server, org: string): Promise<void> {
  const asked = numbers(shown.attestations).map(
    (number) => `    - {name: ${attestationName(number)}, type: generic}`,
  );
  const template = ["version: 1", "trail:", "  attestations:", ...asked, ""].join("\n");
  const flow = form("data_json", { name: named.flow, description: "" }, { template_file: template });
  await send(server, "PUT", `/api/v2/flows/${org}/template_file`, flow);
  const reports = numbers(shown.trails).flatMap((trail) =>
    numbers(shown.attestations).map((number) => ({ trail, number })),
  );
  await each(reports, async ({ trail, number }) => {
    const place = trail * shown.attestations + number;
    if (place % 17 === 5) return;
    const data = { attestation_name: attestationName(number), is_compliant: place % 23 !== 3, user_data: {} };
    const path = `/api/v2/attestations/${org}/${named.flow}/trail/build-${trail + 1}/generic`;
    await send(server, "POST", path, form("data_json", data));
  });
}

/** Reports a history: from each snapshot to the next 8 of the 800 artifacts get another version, and 8 others their old one. */
async function fillRuntime(server: Server, built: Size, snapshots: number): Promise<void> {
  const { org } = built;
  await createPolicies(server, org);
  for (const name of [named.environment, named.other])
    await createEnvironment(server, org, name, Object.keys(policies));
  const inTurn = (turn: number): number[] =>
    numbers(shown.artifacts).map((place) =>
      Math.floor(place / exchanged) === turn % turns ? 2 * shown.artifacts + place : place,
    );
  for (let turn = 0; turn < snapshots; turn += 1)
    await sendReport(server, clusterReport(built, named.environment, inTurn(turn)));
  await sendReport(server, clusterReport(built, named.other, numbers(shown.artifacts, shown.artifacts)));
}

/** Says whether it is there: what is made last. */
async function isMade({ url, key }: Server, org: string): Promise<boolean> {
  const response = await fetch(`${url}/api/v2/trails/${org}/${named.flow}/build-${shown.trails}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  return response.ok;
}

/**
 * Makes sure that a server has what pages are measured with, besides its lists: an organization of some 2,000 builds with two
 * environments of 800 artifacts, and a flow of 50 trails.
 */
export async function prepareWebData(server: Server, size: keyof typeof snapshotCounts): Promise<WebNames> {
  const snapshots = snapshotCounts[size];
  const plan = JSON.stringify([shown, snapshots, turns, exchanged, policies]);
  const org = `bench-web-${createHash("sha256").update(plan).digest("hex").slice(0, 8)}`;
  const names = { org, ...named };
  if (await isMade(server, org)) return names;
  console.log(`Making ${org}`);
  const built: Size = { org, flows: shown.artifacts, trails: 3 };
  await createOrganization(server, org);
  await withDatabase(server.dataDir, (db) => loadTrails(db, built));
  await fillRuntime(server, built, snapshots);
  await fillMatrix(server, org);
  await withDatabase(server.dataDir, (db) => db.pool.query("analyze"));
  return names;
}
