import { send } from "../api.ts";
import { type Figure, measureAlone, type Setting, type Subject } from "../measure.ts";
import {
  builtArtifact,
  changingReports,
  clusterReports,
  histories,
  large,
  replacingReports,
  runtimeOrgs,
  steadyReport,
} from "../runtime-data.ts";
import { atLeast, below, figureOf, type Scenario, type Verdict } from "../scenario.ts";

const org = runtimeOrgs.runtime;
const steady = "report: 800 artifacts, unchanged";
const changing = "report: 800 artifacts, 16 of them others than before";
const replacing = "report: 800 artifacts, all of them others than before";
const snapshot = "snapshot: latest, of 800 artifacts";
const byFlows = "assert: by flows";
const byEnvironment = "assert: by the policies of an environment";
const clusters = "report: 500 clusters of 50 pods, unchanged";

/** A read of a history: its name, and its path. */
interface HistoryRead {
  name: string;
  path: (environment: string, middle: string) => string;
}

const page = "per_page=15&interval=&reverse=false";

const historyReads: HistoryRead[] = [
  { name: "list", path: (environment) => `/snapshots/${org}/${environment}?page=1&${page}` },
  { name: "log", path: (environment) => `/environments/${org}/${environment}/events?page=1&${page}` },
  {
    name: "diff",
    path: (environment) => `/env-diff/${org}?snappish1=${environment}%231&snappish2=${environment}`,
  },
  {
    name: "@{time}",
    path: (environment, middle) => `/snapshots/${org}/${environment}/@%7B${middle}%7D`,
  },
];

const deepReads: HistoryRead[] = [
  { name: "list, page 600", path: (environment) => `/snapshots/${org}/${environment}?page=600&${page}` },
  {
    name: "log, page 600",
    path: (environment) => `/environments/${org}/${environment}/events?page=600&${page}`,
  },
];

function titleOf({ name }: HistoryRead, snapshots: string): string {
  return `history: ${name}, of ${snapshots} snapshots`;
}

/** Finds a moment in the middle of a history, as snapshot expressions write it. */
async function middleOf({ url, key }: Setting, environment: string): Promise<string> {
  const path = `${url}/api/v2/snapshots/${org}/${environment}?per_page=1&interval=`;
  const headers = { authorization: `Bearer ${key}` };
  const at = async (expression: string): Promise<number> => {
    const items = (await (await fetch(path + expression, { headers })).json()) as { from: number }[];
    return items[0]!.from;
  };
  const middle = ((await at("1..1")) + (await at("NOW..NOW"))) / 2;
  return new Date(Math.ceil(middle) * 1000).toISOString().slice(0, 19);
}

async function measureHistory(
  setting: Setting,
  environment: string,
  reads: { read: HistoryRead; title: string }[],
): Promise<Figure[]> {
  const middle = await middleOf(setting, environment);
  const figures: Figure[] = [];
  for (const { read, title } of reads) {
    const subject = { scenario: title, path: `/api/v2${read.path(environment, middle)}` };
    figures.push(...(await measureAlone(setting, subject, [1])));
  }
  return figures;
}

async function measureHistories(setting: Setting): Promise<Figure[]> {
  const titled = (reads: readonly HistoryRead[], snapshots: string) =>
    reads.map((read) => ({ read, title: titleOf(read, snapshots) }));
  return [
    ...(await measureHistory(setting, histories.long, titled([...historyReads, ...deepReads], "10,000"))),
    ...(await measureHistory(setting, histories.short, titled(historyReads, "100"))),
  ];
}

function historyVerdicts(figures: Figure[]): Verdict[] {
  const p50 = (title: string): number => figureOf(figures, title, 1).own.p50;
  return [
    ...[...historyReads, ...deepReads].map((read) => {
      const title = titleOf(read, "10,000");
      return below(`${title}, p50`, p50(title), 10, " ms");
    }),
    ...historyReads.map((read) => {
      const times = p50(titleOf(read, "10,000")) / p50(titleOf(read, "100"));
      return below(`history: ${read.name}, 10,000 against 100 snapshots`, times, 1.3, " times as slow");
    }),
  ];
}

/** Checks that reports are answered with the expected status, which says whether they change something. */
async function expectStatus(setting: Setting, subject: Subject, status: number): Promise<void> {
  // Whatever an earlier run left, the first report below is another one than this, where they differ.
  const puts = subject.puts!;
  const second = puts[1] ?? puts[0]!;
  await send(setting, "PUT", second.path, second.body);
  for (const { path, body } of puts.slice(0, 3)) {
    const answered = await send(setting, "PUT", path, body);
    if (answered !== status) throw new Error(`${subject.scenario}: ${answered} instead of ${status}`);
  }
}

async function measureReports(setting: Setting): Promise<Figure[]> {
  const subjects: [Subject, number][] = [
    [{ scenario: steady, path: "", puts: [steadyReport] }, 200],
    [{ scenario: changing, path: "", puts: changingReports }, 201],
    [{ scenario: replacing, path: "", puts: replacingReports.toReversed() }, 201],
    [{ scenario: clusters, path: "", puts: clusterReports }, 200],
  ];
  const figures: Figure[] = [];
  for (const [subject, status] of subjects) {
    await expectStatus(setting, subject, status);
    figures.push(...(await measureAlone(setting, subject, [1])));
  }
  return figures;
}

async function measureAsserts(setting: Setting): Promise<Figure[]> {
  const subject = (scenario: string, query: string): Subject => {
    const [path, ...others] = Array.from(
      { length: 500 },
      (_, index) => `/api/v2/asserts/${org}/fingerprint/${builtArtifact(index)}${query}`,
    );
    return { scenario, path: path!, others };
  };
  return [
    ...(await measureAlone(setting, subject(byFlows, ""), [1, 16])),
    ...(await measureAlone(setting, subject(byEnvironment, `?environment_name=${large.steady}`), [16])),
  ];
}

/** Computes the processor time of Node and PostgreSQL for one report of each cluster a minute, in percent of a core. */
function shareOfCore({ own }: Figure): number {
  const microseconds = own.cost.node + own.cost.postgres;
  return ((microseconds * clusterReports.length) / 60e6) * 100;
}

/** The scenario of environments: reports, snapshots, histories and asserts. */
export const runtimeScenario: Scenario = {
  name: "runtime",
  run: async (setting) => {
    const figures = await measureReports(setting);
    const latest = `/api/v2/snapshots/${org}/${large.steady}/-1`;
    figures.push(...(await measureAlone(setting, { scenario: snapshot, path: latest }, [1])));
    figures.push(...(await measureHistories(setting)));
    figures.push(...(await measureAsserts(setting)));
    const p50 = (title: string): number => figureOf(figures, title, 1).own.p50;
    return {
      figures,
      verdicts: [
        below("unchanged report of 800 artifacts, p50", p50(steady), 8, " ms"),
        below("changed report of 800 artifacts, 3 policies, p50", p50(changing), 60, " ms"),
        below("latest snapshot of 800 artifacts, p50", p50(snapshot), 15, " ms"),
        ...historyVerdicts(figures),
        atLeast("asserts at 16 connections", figureOf(figures, byFlows, 16).own.throughput, 2000, "/s"),
        below(
          "500 clusters that report every minute, unchanged: processor time",
          shareOfCore(figureOf(figures, clusters, 1)),
          5,
          " % of a core",
        ),
      ],
    };
  },
};
