import type { Database } from "../../src/db/connect.ts";
import { measureAlone, type Setting } from "../measure.ts";
import { scaleOrg } from "./seed.ts";

/** A read that people or pipelines make all the time, and what it costs. */
export interface ReadFigure {
  name: string;
  /** Milliseconds at one connection. */
  p50: number;
  /** Processor time of PostgreSQL for each request, in microseconds. */
  postgres: number;
}

interface Sample {
  flow: string;
  trail: string;
  fingerprint: string;
  filename: string;
}

/** How many different things of a kind are read in turn. */
const many = 60;

/** Finds artifacts of all times, some of each stretch, with their trails. */
async function findSamples(db: Database): Promise<Sample[]> {
  const { rows } = await db.pool.query<Sample>(
    `select f.name as flow, t.name as trail, a.fingerprint, a.filename
     from organizations o
     cross join lateral (select build_number as last from org_counters where org_id = o.id) c
     cross join generate_series(1, $2::int) n
     join builds b on b.org_id = o.id and b.number = greatest(1, c.last * n / $2::int - n)
     join artifacts a on a.org_id = b.org_id and a.id = b.artifact_id
     join trails t on t.org_id = a.org_id and t.id = a.trail_id
     join flows f on f.org_id = a.org_id and f.id = a.flow_id
     where o.name = $1`,
    [scaleOrg, many],
  );
  return rows;
}

async function busiestEnvironment(db: Database): Promise<string> {
  const { rows } = await db.pool.query<{ name: string }>(
    `select e.name from environment_reports r join environments e on e.org_id = r.org_id and e.id = r.environment_id
     join organizations o on o.id = r.org_id
     where o.name = $1 and e.type <> 'logical' order by r.artifact_count desc, e.name limit 1`,
    [scaleOrg],
  );
  return rows[0]!.name;
}

/** Lists the addresses of each read. */
async function addresses(db: Database): Promise<Record<string, string[]>> {
  const samples = await findSamples(db);
  const environment = await busiestEnvironment(db);
  const at = (kind: string, rest = ""): string => `/api/v2/${kind}/${scaleOrg}${rest}`;
  const each = (path: (sample: Sample) => string): string[] => [...new Set(samples.map(path))];
  return {
    "builds: list": [at("builds", "?per_page=50")],
    "flows: list by activity": [at("flows", "?per_page=50&sort=latest_activity&sort_direction=desc")],
    "environments: list": [at("environments", "?per_page=50")],
    "trails: list of a flow": each(({ flow }) => at("trails", `/${flow}?per_page=50`)),
    "attestations: search, 50 that do not comply": [at("attestations", "?is_compliant=false&per_page=50")],
    "artifacts: list of a flow": each(({ flow }) => at("artifacts", `?flow_name=${flow}&per_page=50`)),
    "artifact: by fingerprint": each(({ flow, fingerprint }) =>
      at("artifacts", `/${flow}/fingerprint/${fingerprint}`),
    ),
    "attestations: of an artifact by name": each(({ flow, fingerprint }) =>
      at("attestations", `/${flow}/artifact/${fingerprint}/unit-tests`),
    ),
    "trail: by name, with its verdict": each(({ flow, trail }) => at("trails", `/${flow}/${trail}`)),
    "search: by a commit's digest": each(({ trail }) => at("search", `/sha/${trail}`)),
    "search: by the beginning of a trail's name": each(({ trail }) =>
      at("trails", `?search=${trail.slice(0, 10)}&per_page=50`),
    ),
    "snapshot: latest": [at("snapshots", `/${environment}/-1`)],
    "audit log: a page": [at("audit-log", "?per_page=50")],
  };
}

/** Measures the hot reads one after the other, each at one connection. */
export async function measureHotReads(db: Database, setting: Setting): Promise<ReadFigure[]> {
  const figures: ReadFigure[] = [];
  for (const [name, [path = "", ...others]] of Object.entries(await addresses(db))) {
    const subject = { scenario: name, path, ...(others.length === 0 ? {} : { others }) };
    const [figure] = await measureAlone(setting, subject, [1]);
    const { p50, cost } = figure!.own;
    figures.push({ name, p50, postgres: cost.postgres });
    console.log(`  ${name}: ${p50.toFixed(2)} ms, PostgreSQL ${cost.postgres.toFixed(0)} µs`);
  }
  return figures;
}
