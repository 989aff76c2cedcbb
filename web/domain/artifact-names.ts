/** An artifact somewhere, as lists of what runs tell it. */
export interface RunningRow {
  environment_name: string;
  artifact_name: string;
  fingerprint: string;
  started_at: number;
}

/** One version of an artifact: the same contents wherever it runs. */
export interface RunningVersion<Row> {
  fingerprint: string;
  /** Tag in its name, empty without one. */
  tag: string;
  rows: readonly Row[];
}

/** All versions of an artifact, the one that started last first. More than one is drift. */
export interface RunningGroup<Row> {
  name: string;
  versions: readonly RunningVersion<Row>[];
}

/**
 * Divides the name of an artifact into what stays from version to version, and its tag; a digest in it is left out. The server divides
 * them alike (`src/domain/artifact-name.ts`).
 */
export function partsOfName(name: string): { name: string; tag: string } {
  const plain = name.replace(/@[a-z0-9]+:[a-f0-9]+$/, "");
  const [, bare = plain, tag = ""] = /^(.*):([A-Za-z0-9_][A-Za-z0-9._-]{0,127})$/s.exec(plain) ?? [];
  return { name: bare, tag };
}

function groupsOf<Row>(rows: readonly Row[], keyOf: (row: Row) => string): Map<string, Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const key = keyOf(row);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  return groups;
}

function versionsOf<Row extends RunningRow>(rows: readonly Row[]): RunningVersion<Row>[] {
  const byFingerprint = groupsOf(rows, ({ fingerprint }) => fingerprint);
  return [...byFingerprint]
    .map(([fingerprint, same]) => ({
      fingerprint,
      tag: partsOfName(same[0]?.artifact_name ?? "").tag,
      rows: same,
      latest: Math.max(...same.map(({ started_at }) => started_at)),
    }))
    .toSorted((a, b) => b.latest - a.latest)
    .map(({ latest: _latest, ...version }) => version);
}

/** Puts what runs together by artifact, in the order of the rows. */
export function groupByArtifact<Row extends RunningRow>(rows: readonly Row[]): RunningGroup<Row>[] {
  const byName = groupsOf(rows, ({ artifact_name }) => partsOfName(artifact_name).name);
  return [...byName].map(([name, same]) => ({ name, versions: versionsOf(same) }));
}
