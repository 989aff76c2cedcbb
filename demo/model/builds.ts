import { createHash } from "node:crypto";

import { reasons, things, verbs } from "../data/commits.ts";
import { companyDomain } from "../data/company.ts";
import { type Component, type Flow, flows } from "../data/flows.ts";
import type { Calendar } from "./calendar.ts";
import { repoOf } from "./flows.ts";
import type { Person } from "./people.ts";
import { createRandom, type Random } from "./random.ts";

/** A commit, as `git_commit_info` describes it. */
interface Commit {
  sha1: string;
  message: string;
  author: string;
  branch: string;
  /** Unix seconds. */
  timestamp: number;
  url: string;
}

/** An artifact that came out of a run. */
export interface Build {
  fingerprint: string;
  filename: string;
  component: Component;
}

/** One run of a flow: a commit went in, artifacts came out. */
export interface Run {
  flow: Flow;
  /** Name of the trail. */
  trail: string;
  commit: Commit;
  /** Number of the job that ran it, and where to look at it. */
  job: number;
  job_url: string;
  /** Empty when the run failed before anything was built. */
  builds: Build[];
  /** Unix seconds; runs come in order of it. */
  at: number;
}

/** Computes hexadecimal digits of a text's SHA-256. */
function digest(text: string, length: number): string {
  return createHash("sha256").update(text).digest("hex").slice(0, length);
}

function branchOf(random: Random, message: string): string {
  if (random.chance(0.72)) return "main";
  if (random.chance(0.15)) return `release/${random.int(1, 9)}.${random.int(0, 20)}`;
  return `feature/${message.toLowerCase().replaceAll(" ", "-").slice(0, 40)}`;
}

function makeCommit(random: Random, flow: Flow, author: Person, id: string): Omit<Commit, "timestamp"> {
  const sha1 = digest(`commit ${id}`, 40);
  const message = `${random.pick(verbs)} ${random.pick(things)}${random.pick(reasons)}`;
  return {
    sha1,
    message,
    author: `${author.display_name} <${author.email}>`,
    branch: branchOf(random, message),
    url: `${repoOf(flow).url}/commit/${sha1}`,
  };
}

/** What runs are made from. */
export interface RunsOptions {
  seed: string;
  people: readonly Person[];
  /** When the work is done. */
  calendar: Calendar;
  /** The number of artifacts of all runs together. */
  builds: number;
  /** Number of each flow's first job; they count up from there. */
  firstJob: number;
}

/**
 * Makes the runs of all flows, in order of time, with exactly as many artifacts as asked for and no fingerprint twice.
 * The calendar changes nothing but the times.
 */
export function* makeRuns(options: RunsOptions): Generator<Run> {
  const { seed, people, calendar, builds, firstJob } = options;
  const random = createRandom(`${seed}/runs`);
  const jobs = new Map<string, number>();
  let made = 0;
  let at = 0;
  for (let number = 0; made < builds; number += 1) {
    const flow = random.weighted(flows);
    const author = random.pick(people);
    const commit = makeCommit(random, flow, author, `${seed} ${number}`);
    const components = random.chance(0.04) ? [] : flow.components.slice(0, builds - made);
    const job = (jobs.get(flow.name) ?? firstJob - 1) + 1;
    jobs.set(flow.name, job);
    const version = `${1 + Math.floor(job / 2000)}.${Math.floor(job / 20) % 100}.${job % 20}`;
    at = Math.max(at, calendar((made + random.next()) / builds));
    yield {
      flow,
      trail: commit.sha1,
      commit: { ...commit, timestamp: Math.floor(at) - random.int(60, 5400) },
      job,
      job_url: `https://ci.${companyDomain}/${flow.name}/${job}`,
      builds: components.map((component) => ({
        component,
        fingerprint: digest(`artifact ${seed} ${number} ${component.name}`, 64),
        filename: `${component.file}:${version}`,
      })),
      at,
    };
    made += components.length;
  }
}
