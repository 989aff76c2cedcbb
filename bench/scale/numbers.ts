import type { Template } from "./template.ts";

/** A row as COPY writes it, by the names of its columns. */
export type CopyRow = Readonly<Record<string, string>>;

/** What an organization and its environments and repos had counted when reporting ended. */
export interface Counts {
  builds: number;
  auditEntries: number;
  /** By the id of the repo. */
  ofRepos: ReadonlyMap<string, number>;
  /** By the id of the environment. */
  ofEnvironments: ReadonlyMap<string, EnvironmentCounts>;
  /** Ids of environments by their names. */
  environments: ReadonlyMap<string, string>;
}

/** How many snapshots, rows of them and events an environment had. */
interface EnvironmentCounts {
  snapshots: number;
  rows: number;
  events: number;
}

/** Computes by how much a number grows from epoch to epoch. */
type Step = (counts: Counts, row: CopyRow) => number;

const nothing: EnvironmentCounts = { snapshots: 0, rows: 0, events: 0 };

function environment(of: keyof EnvironmentCounts): Step {
  return ({ ofEnvironments }, { environment_id = "" }) => (ofEnvironments.get(environment_id) ?? nothing)[of];
}

const [snapshots, rows, events] = [environment("snapshots"), environment("rows"), environment("events")];

/** The columns that count, by table. All numbers in them grow. */
const steps: Readonly<Record<string, Readonly<Record<string, Step>>>> = {
  builds: {
    number: ({ builds }) => builds,
    repo_number: ({ ofRepos }, { repo_id = "" }) => ofRepos.get(repo_id) ?? 0,
  },
  audit_log: { seq: ({ auditEntries }) => auditEntries },
  snapshots: { index: snapshots, event_count: events, artifacts: rows },
  snapshot_artifacts: {
    id: rows,
    first_index: snapshots,
    last_index: snapshots,
    event_number: events,
    repeats: rows,
  },
  snapshot_documents: { id: rows },
  trail_events: { snapshot_index: snapshots },
  environment_lineage: { started_index: snapshots },
  running_artifacts: { id: rows },
};

/** Finds by how much the numbers of a column grow from epoch to epoch; undefined where they do not. */
export function stepOf(table: string, column: string, counts: Counts, row: CopyRow): number | undefined {
  const step = steps[table]?.[column];
  if (step !== undefined) return step(counts, row);
  if (table !== "audit_log" || column !== "resource" || row["resource_type"] !== "snapshot") return undefined;
  const id = counts.environments.get((row["resource"] ?? "").replace(/#\d+$/, ""));
  return counts.ofEnvironments.get(id ?? "")?.snapshots;
}

/**
 * Makes a template of a column that counts: all its numbers are places.
 * @param add adds a slot for a number of the first epoch, and gives the slot's number.
 */
export function countingTemplate(text: string, add: (first: number) => number): Template {
  const template: Template = { literals: [], places: [] };
  let from = 0;
  for (const match of text.matchAll(/(?<=^|[{,#])\d+(?=$|[,}])/g)) {
    template.literals.push(text.slice(from, match.index));
    template.places.push(add(Number(match[0])));
    from = match.index + match[0].length;
  }
  template.literals.push(text.slice(from));
  return template;
}
