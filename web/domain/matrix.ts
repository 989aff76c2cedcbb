/** What became of one attestation name in one place, as lists of trails tell it. */
interface StatusLike {
  attestation_name: string;
  attestation_id?: string | undefined;
  overridden_attestation_id?: string | undefined;
  status: "COMPLETE" | "MISSING";
  is_compliant?: boolean | undefined;
  unexpected?: true | undefined;
}

/** A trail, by what became of its attestations. Expected ones come first, in the order of its template. */
export interface MatrixTrailLike {
  compliance_status: {
    attestations_statuses: readonly StatusLike[];
    artifacts_statuses: Readonly<
      Record<
        string,
        { status: string; unexpected?: true | undefined; attestations_statuses: readonly StatusLike[] }
      >
    >;
  };
}

export type CellOutcome = "met" | "failed" | "missing";

/** What became of a requirement on one trail. */
export interface MatrixCell {
  outcome: CellOutcome;
  /** The report that decides; undefined while missing, and for artifacts. */
  attestation_id: string | undefined;
  /** Somebody replaced its verdict. */
  isOverride: boolean;
  /** The template of the trail does not ask for it. */
  isUnasked: boolean;
}

/** A requirement of any of the trails, or something that came unasked. */
export interface MatrixColumn {
  key: string;
  /** Name of the artifact in the template; null for the trail itself. */
  artifact: string | null;
  /** Null when it is about the artifact itself. */
  attestation: string | null;
  /** The template of one of the trails asks for it. */
  isAsked: boolean;
  /** On how many of the trails it has which outcome. */
  met: number;
  failed: number;
  missing: number;
}

/** Columns beside each other that are about the same: the trail, or one artifact. */
interface MatrixGroup {
  key: string;
  artifact: string | null;
  isAsked: boolean;
  columns: number;
}

export interface Matrix {
  columns: MatrixColumn[];
  groups: MatrixGroup[];
  /** A row for each trail, a cell for each column; undefined where the trail knows nothing of it. */
  rows: (MatrixCell | undefined)[][];
}

const keyOf = (artifact: string | null, attestation: string | null): string =>
  JSON.stringify([artifact, attestation]);

interface Found {
  artifact: string | null;
  attestation: string | null;
  cell: MatrixCell;
}

function foundAttestation(artifact: string | null, status: StatusLike): Found {
  const { attestation_name, attestation_id, overridden_attestation_id, is_compliant, unexpected } = status;
  const outcome = status.status === "MISSING" ? "missing" : is_compliant === true ? "met" : "failed";
  const isOverride = overridden_attestation_id !== undefined;
  const cell = { outcome, attestation_id, isOverride, isUnasked: unexpected === true } as const;
  return { artifact, attestation: attestation_name, cell };
}

/** Lists what a trail tells, in its order. */
function foundOn({ compliance_status }: MatrixTrailLike): Found[] {
  const { attestations_statuses, artifacts_statuses } = compliance_status;
  const ofArtifacts = Object.entries(artifacts_statuses).flatMap(([artifact, one]): Found[] => {
    const outcome = one.status === "MISSING" ? "missing" : "met";
    const isUnasked = one.unexpected === true;
    return [
      {
        artifact,
        attestation: null,
        cell: { outcome, attestation_id: undefined, isOverride: false, isUnasked },
      },
      ...one.attestations_statuses.map((status) => foundAttestation(artifact, status)),
    ];
  });
  return [...attestations_statuses.map((status) => foundAttestation(null, status)), ...ofArtifacts];
}

/** Merges orders into one, in which what an order adds stands behind what it stands behind there; the first order stays as it is. */
export function mergeOrders<T>(orders: readonly (readonly T[])[]): T[] {
  const merged: T[] = [];
  for (const order of orders) {
    let at = 0;
    for (const item of order) {
      const known = merged.indexOf(item);
      if (known === -1) merged.splice(at, 0, item);
      at = (known === -1 ? at : known) + 1;
    }
  }
  return merged;
}

const unique = <T>(items: readonly T[]): T[] => [...new Set(items)];

/** Orders columns: by place, the trail before its artifacts, and in each place as the trails have them. */
function orderedKeys(trails: readonly (readonly Found[])[]): [string | null, string | null][] {
  const places = mergeOrders<string | null>([
    [null],
    ...trails.map((found) => unique(found.map(({ artifact }) => artifact))),
  ]);
  return places.flatMap((place) =>
    mergeOrders(
      trails.map((found) =>
        unique(found.filter(({ artifact }) => artifact === place).map(({ attestation }) => attestation)),
      ),
    ).map((attestation): [string | null, string | null] => [place, attestation]),
  );
}

function groupsOf(columns: readonly MatrixColumn[]): MatrixGroup[] {
  const groups: MatrixGroup[] = [];
  for (const { key, artifact, isAsked } of columns) {
    const last = groups.at(-1);
    if (last?.artifact === artifact && last.isAsked === isAsked) last.columns += 1;
    else groups.push({ key, artifact, isAsked, columns: 1 });
  }
  return groups;
}

/**
 * Lays out trails as a matrix: a column for each requirement in the order of the template, then one for each thing that came
 * unasked. Trails keep the template they began with, so the orders of several templates are merged, the first trail's first.
 */
export function layOutMatrix(trails: readonly MatrixTrailLike[]): Matrix {
  const found = trails.map(foundOn);
  const byKey = found.map(
    (all) => new Map(all.map(({ artifact, attestation, cell }) => [keyOf(artifact, attestation), cell])),
  );
  const all = orderedKeys(found).map(([artifact, attestation]): MatrixColumn => {
    const key = keyOf(artifact, attestation);
    const cells = byKey.flatMap((cellOf) => cellOf.get(key) ?? []);
    const count = (outcome: CellOutcome): number => cells.filter((cell) => cell.outcome === outcome).length;
    const isAsked = cells.some(({ isUnasked }) => !isUnasked);
    return {
      key,
      artifact,
      attestation,
      isAsked,
      met: count("met"),
      failed: count("failed"),
      missing: count("missing"),
    };
  });
  const columns = [...all.filter(({ isAsked }) => isAsked), ...all.filter(({ isAsked }) => !isAsked)];
  return {
    columns,
    groups: groupsOf(columns),
    rows: byKey.map((cellOf) => columns.map(({ key }) => cellOf.get(key))),
  };
}

/** Says what part of the trails that it concerns meets a column, from 0 to 1. */
export function shareMet({ met, failed, missing }: Pick<MatrixColumn, "met" | "failed" | "missing">): number {
  const all = met + failed + missing;
  return all === 0 ? 0 : met / all;
}

/** Counts how far a trail is: requirements that are met, and all that its template asks for. */
export function progressOf(trail: MatrixTrailLike): { met: number; asked: number; failed: number } {
  const cells = foundOn(trail).map(({ cell }) => cell);
  const asked = cells.filter(({ isUnasked }) => !isUnasked);
  return {
    met: asked.filter(({ outcome }) => outcome === "met").length,
    asked: asked.length,
    failed: cells.filter(({ outcome }) => outcome === "failed").length,
  };
}

/** A place in a matrix; row -1 is its head, column -1 the name of the trail. */
export interface MatrixPlace {
  row: number;
  column: number;
}

/** Finds where a key leads from a place, within the matrix; undefined for keys that do not move. */
export function moveInMatrix(
  { row, column }: MatrixPlace,
  key: string,
  size: { rows: number; columns: number },
): MatrixPlace | undefined {
  const within = (value: number, most: number): number => Math.max(0, Math.min(most, value));
  const to = (nextRow: number, nextColumn: number): MatrixPlace => ({
    row: within(nextRow, size.rows - 1),
    column: Math.max(-1, Math.min(size.columns - 1, nextColumn)),
  });
  if (key === "ArrowUp") return to(row - 1, column);
  if (key === "ArrowDown") return to(row + 1, column);
  if (key === "ArrowLeft") return to(row, column - 1);
  if (key === "ArrowRight") return to(row, column + 1);
  if (key === "Home") return to(row, -1);
  if (key === "End") return to(row, size.columns - 1);
  if (key === "PageUp") return to(row - 10, column);
  if (key === "PageDown") return to(row + 10, column);
  return undefined;
}
