import { rounds, type Service } from "../data/sites.ts";
import type { Build, Run } from "./builds.ts";
import { checksOf, passed } from "./checks.ts";
import { createRandom, type Random } from "./random.ts";
import { type Site, sites } from "./sites.ts";

/** A run whose builds may be deployed. */
interface Candidate {
  run: Run;
  /** Whether its pipeline reported checks that passed. */
  passed: boolean;
}

/** Candidates by flow, oldest first. */
export type Candidates = ReadonlyMap<string, readonly Candidate[]>;

/** How many of a flow's latest runs are remembered. */
const remembered = 6;

function isCandidate(run: Run): boolean {
  return run.builds.length > 0 && run.commit.branch === "main";
}

/** The latest runs of each flow, oldest first. */
export type LatestRuns = Map<string, Run[]>;

function remember(latest: LatestRuns, run: Run): void {
  if (isCandidate(run))
    latest.set(run.flow.name, [...(latest.get(run.flow.name) ?? []), run].slice(-remembered));
}

/** Passes runs on, and notes in `latest` the last of each flow that may be deployed. */
export function* remembering(runs: Iterable<Run>, latest: LatestRuns): Generator<Run> {
  for (const run of runs) {
    remember(latest, run);
    yield run;
  }
}

/**
 * Lists what may be deployed.
 * @param past runs of the year, of which only the builds were reported.
 * @param recent runs that pipelines reported with their checks.
 */
export function candidatesOf(seed: string, past: LatestRuns, recent: readonly Run[]): Candidates {
  const latest: LatestRuns = new Map();
  for (const run of recent) remember(latest, run);
  return new Map(
    [...new Set([...past.keys(), ...latest.keys()])].map((flow) => [
      flow,
      [
        ...(past.get(flow) ?? []).map((run) => ({ run, passed: false })),
        ...(latest.get(flow) ?? []).map((run) => ({ run, passed: passed(checksOf(seed, run)) })),
      ],
    ]),
  );
}

/** Something that runs at a site. */
export interface Running {
  name: string;
  fingerprint: string;
  /** The round since which it runs without interruption. */
  since: number;
  /** When it was built, Unix seconds; 0 when nobody knows. */
  built: number;
  instances: number;
}

/** Everything that runs at a site in one round. */
export interface SiteReport {
  site: Site;
  running: Running[];
}

/** The index of the candidate that runs in each round, by stage. */
interface Versions {
  staging: number[];
  prod: number[];
}

/** Spreads candidates over the rounds of staging, which has the newest a round before the end. */
function stagingVersions(count: number): number[] {
  const last = rounds.total - 2;
  return Array.from({ length: rounds.total }, (_, round) =>
    Math.min(count - 1, Math.round((round * (count - 1)) / last)),
  );
}

/**
 * Chooses the candidates of production: mostly what staging had a round before, with one rollback, and `best` at the
 * end.
 */
function prodVersions(random: Random, staging: readonly number[], best: number): number[] {
  const rollback = random.int(3, rounds.total - 3);
  const versions = [0];
  for (let round = 1; round < rounds.total - 1; round += 1) {
    const current = versions[round - 1] ?? 0;
    const earlier = versions.findLast((version) => version !== current);
    const next = staging[round - 1] ?? 0;
    if (round === rollback && earlier !== undefined) versions.push(earlier);
    else versions.push(round === rollback - 1 || random.chance(0.75) ? next : current);
  }
  return [...versions, best];
}

function versionsOf(seed: string, flow: string, candidates: readonly Candidate[]): Versions {
  const staging = stagingVersions(candidates.length);
  const best = candidates.findLastIndex((candidate) => candidate.passed);
  const random = createRandom(`${seed}/rollout of ${flow}`);
  return { staging, prod: prodVersions(random, staging, best === -1 ? candidates.length - 1 : best) };
}

/** Finds the round since which the candidate of this round runs. */
function sinceOf(versions: readonly number[], round: number): number {
  let since = round;
  while (since > 0 && versions[since - 1] === versions[round]) since -= 1;
  return since;
}

interface Place {
  site: Site;
  round: number;
}

interface Plan {
  seed: string;
  candidates: Candidates;
  versions: ReadonlyMap<string, Versions>;
}

function instancesOf({ seed }: Plan, { site, round }: Place, component: string): number {
  if (site.type === "S3" || site.type === "lambda" || site.type === "server") return 1;
  if (site.stage === "staging") return 1;
  return createRandom(`${seed}/instances of ${component} at ${site.name} in ${round}`).int(2, 5);
}

function runningService(plan: Plan, place: Place, service: Service): Running[] {
  const versions = plan.versions.get(service.flow)?.[place.site.stage];
  const run = plan.candidates.get(service.flow)?.[versions?.[place.round] ?? -1]?.run;
  const build: Build | undefined = run?.builds.find(({ component }) => component.name === service.component);
  if (versions === undefined || run === undefined || build === undefined) return [];
  return [
    {
      name: build.filename,
      fingerprint: build.fingerprint,
      since: sinceOf(versions, place.round),
      built: run.at,
      instances: instancesOf(plan, place, service.component),
    },
  ];
}

function reportOf(plan: Plan, place: Place): SiteReport {
  const { site, round } = place;
  const foreign = site.images
    .filter(({ from }) => from <= round)
    .map(({ image, from }): Running => ({ ...image, since: from, built: 0, instances: 1 }));
  return {
    site,
    running: [...site.services.flatMap((service) => runningService(plan, place, service)), ...foreign],
  };
}

/**
 * Makes what the sites report, round by round. Builds come to staging first and to production later, each flow is
 * rolled back once, numbers of instances change, and third parties' images run beside them. The same candidates give
 * the same reports.
 */
export function makeRollout(seed: string, candidates: Candidates): SiteReport[][] {
  const versions = new Map(
    [...candidates].map(([flow, runs]) => [flow, versionsOf(seed, flow, runs)] as const),
  );
  return Array.from({ length: rounds.total }, (_, round) =>
    sites.map((site) => reportOf({ seed, candidates, versions }, { site, round })),
  );
}
