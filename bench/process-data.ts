import { createHash } from "node:crypto";

import type { Database } from "../src/db/connect.ts";
import { transaction } from "../src/db/transaction.ts";
import { evaluateTrails, type FlowOrigin } from "../src/modules/process/compliance/service.ts";
import { send } from "./api.ts";
import { type Filling, withDatabase } from "./data.ts";
import type { Server } from "./processes.ts";

/** Names of the organizations with flows, trails and attestations. */
export const processOrgs = {
  /** 1,000 flows, 100,000 trails, 2,000,000 attestations. */
  large: "bench-process-large",
  /** 10 flows, 1,000 trails, 20,000 attestations. */
  small: "bench-process-small",
  /** Receives the reports of the load. */
  reports: "bench-process-reports",
} as const;

/** How many flows and trails to make in an organization. */
export interface Size {
  org: string;
  flows: number;
  /** Trails of each flow. */
  trails: number;
}

const sizes: Size[] = [
  { org: processOrgs.small, flows: 10, trails: 100 },
  { org: processOrgs.large, flows: 1000, trails: 100 },
];

/** The artifacts of each trail. Each has eight attestations, the trail itself has four. */
const artifacts = ["api", "web"];
const [ofArtifact, ofTrail] = [8, 4];

const template = [
  "version: 1",
  "trail:",
  "  attestations:",
  ...Array.from({ length: ofTrail }, (_, index) => `    - {name: gate-${index + 1}, type: generic}`),
  "  artifacts:",
  ...artifacts.flatMap((name) => [
    `    - name: ${name}`,
    "      attestations:",
    ...Array.from(
      { length: ofArtifact },
      (_, index) => `        - {name: check-${index + 1}, type: generic}`,
    ),
  ]),
  "",
].join("\n");

/** An artifact of the loaded data. There are two on each trail. */
export interface LoadedArtifact {
  fingerprint: string;
  filename: string;
  flow: string;
}

/** Computes an artifact of the loaded data. Numbers below the number of trails give different ones. */
export function loadedArtifact({ org, flows, trails }: Size, index: number): LoadedArtifact {
  const trail = 1 + ((index * 7919) % (flows * trails));
  const name = artifacts[index % artifacts.length]!;
  const fingerprint = createHash("sha256").update(`${org}/${trail}/${name}`).digest("hex");
  return { fingerprint, filename: `${name}:${trail}`, flow: `flow-${1 + ((trail - 1) % flows)}` };
}

/** Gives the fingerprint of an artifact of the organization with 100,000 trails. */
export function fingerprintOfLarge(index: number): string {
  return loadedArtifact(
    sizes.find(({ org }) => org === processOrgs.large)!,
    index,
  ).fingerprint;
}

/** Gives the path of an artifact's attestations in the loaded data. */
export function attestedArtifact(org: string, index: number): string {
  const { fingerprint, flow } = loadedArtifact(
    sizes.find((one) => one.org === org)!,
    index,
  );
  return `/api/v2/attestations/${org}/${flow}/artifact/${fingerprint}/check-${1 + (index % ofArtifact)}`;
}

// Ids as the program makes them: by milliseconds, unique by a text, 16 bits of zeros.
const functions = `
  create or replace function pg_temp.made_id(at timestamptz, what text) returns uuid language sql immutable as $$
    select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '70008' || substr(md5(what), 1, 11)
      || '0000')::uuid $$;
  create or replace function pg_temp.digest(what text) returns text language sql immutable as $$
    select encode(sha256(convert_to(what, 'UTF8')), 'hex') $$`;

/**
 * Makes a table of trails, numbered from 1 in order of time, over all flows in turn: half a minute apart, until now.
 */
const places = `
  create temp table places as
  select $1::uuid as org_id, $2::text as org, n, 'flow-' || 1 + (n - 1) % $3::int as flow, at,
    pg_temp.made_id(at, $2 || '/' || n) as id,
    pg_temp.made_id('2025-01-01', $2 || '/flow-' || 1 + (n - 1) % $3::int) as flow_id,
    substr(pg_temp.digest($2 || '/' || n), 1, 40) as sha
  from (
    select n, now() - make_interval(secs => 30 * ($3::int * $4::int + 1 - n)) as at
    from generate_series(1, $3::int * $4::int) as n) as numbered`;

const tables = [
  `insert into flows (org_id, id, name, template, template_id, tags, created_at, created_by_name)
   select distinct org_id, flow_id, flow, $1::text, flow_id, '{"team": "payments"}'::jsonb, '2025-01-01'::timestamptz,
     'Ines Falk' from places`,
  `insert into trails (org_id, id, flow_id, name, template, template_id, git_commit_info, created_at, created_by_name,
     last_modified_at)
   select org_id, id, flow_id, substr(sha, 1, 12), $1::text, flow_id,
     jsonb_build_object('sha1', sha, 'message', 'Round prices', 'author', 'Ines Falk', 'branch', 'main'), at, 'Ines Falk',
     at + '20 seconds' from places order by n`,
  `insert into artifacts (org_id, id, flow_id, trail_id, fingerprint, filename, template_reference_name, git_commit,
     repo_url, commit_url, build_url, created_at, created_by_name)
   select org_id, pg_temp.made_id(at, org || n || name), flow_id, id, pg_temp.digest(org || '/' || n || '/' || name),
     name || ':' || n, name, sha, 'https://git.harborlight.example/' || flow, 'https://git.harborlight.example/' || sha,
     'https://ci.harborlight.example/' || n, at, 'Ines Falk'
   from places cross join unnest(array['${artifacts.join("','")}']) as name order by n`,
  `insert into attestations (org_id, id, flow_id, trail_id, name, type, is_compliant, artifact_fingerprint,
     target_artifacts, git_commit, git_commit_info, user_data, created_at, created_by_name)
   select org_id, pg_temp.made_id(at + part * interval '1 second', org || n || '/' || part), flow_id, id,
     case when artifact is null then 'gate-' else 'check-' end || number, 'generic', (n + part) % 211 <> 0,
     pg_temp.digest(org || '/' || n || '/' || artifact),
     case when artifact is not null then array[artifact] end, sha,
     jsonb_build_object('sha1', sha, 'message', 'Round prices', 'author', 'Ines Falk', 'branch', 'main'), '{}',
     at + part * interval '1 second', 'Ines Falk'
   from places cross join (
     select artifact, number, row_number() over (order by artifact nulls first, number) as part
     from (
       select null as artifact, number from generate_series(1, ${ofTrail}) as number
       union all
       select artifact, number from unnest(array['${artifacts.join("','")}']) as artifact,
         generate_series(1, ${ofArtifact}) as number) as parts) as wanted
   order by n, part`,
  // The statement of the program that inserts attestations keeps these.
  `insert into attestation_heads (org_id, trail_id, kind, place, name, type, first_id, latest_id, latest_plain_id)
   select a.org_id, a.trail_id, p.kind, p.place, a.name, a.type, (array_agg(a.id order by a.id))[1],
     (array_agg(a.id order by a.id desc))[1], (array_agg(a.id order by a.id desc) filter (where not a.is_override))[1]
   from attestations a
   cross join lateral attestation_places(a.artifact_fingerprint, a.target_artifacts, a.git_commit) p
   where a.org_id = (select org_id from places limit 1)
   group by 1, 2, 3, 4, 5, 6`,
];

const latestArtifacts = `select distinct on (flow_id) flow_id, id as artifact_id, repo_id, repo_url from artifacts
  where org_id = $1 order by flow_id, id desc`;

async function judgeAll(db: Database, orgId: string): Promise<void> {
  const { rows: origins } = await db.pool.query<FlowOrigin>(latestArtifacts, [orgId]);
  const { rows } = await db.pool.query<{ id: string }>("select id from places order by n");
  for (let from = 0; from < rows.length; from += 500) {
    const ids = rows.slice(from, from + 500).map(({ id }) => id);
    await transaction(db, (tx) => evaluateTrails(tx, orgId, ids, { kind: "artifacts", origins }));
  }
}

/** Loads flows with trails, artifacts and attestations by SQL, with the verdicts that the API would have given. */
export async function loadTrails(db: Database, { org, flows, trails }: Size): Promise<void> {
  const { rows } = await db.pool.query<{ id: string }>("select id from organizations where name = $1", [org]);
  const orgId = rows[0]!.id;
  await db.pool.query(functions);
  await db.pool.query(places, [orgId, org, flows, trails]);
  for (const table of tables) await db.pool.query(table, table.includes("$1") ? [template] : []);
  await db.pool.query("analyze trails, artifacts, attestations, attestation_heads");
  await judgeAll(db, orgId);
  await db.pool.query("drop table places");
}

/** Creates an organization through the API. */
export async function createOrganization(server: Server, name: string): Promise<void> {
  await send(server, "POST", "/api/v2/organizations", JSON.stringify({ name }));
}

/** The data that flows, trails and attestations are measured with. */
export const processFilling: Filling = {
  name: "process",
  plan: JSON.stringify(sizes),
  sources: ["process-data.ts", "../src/domain/compliance"],
  fill: async (server) => {
    for (const org of Object.values(processOrgs)) await createOrganization(server, org);
    for (const size of sizes) {
      console.log(`Making ${size.org}`);
      await withDatabase(server.dataDir, (db) => loadTrails(db, size));
    }
  },
};
