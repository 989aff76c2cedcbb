/** A thing to place: which rank it belongs to, counted from 0. */
export interface RankedNode {
  id: string;
  rank: number;
}

/** A line between two things, which leads from a lower rank to a higher one. */
export interface RankedEdge {
  from: string;
  to: string;
}

/** Sizes in pixels. */
export interface RankSizes {
  /** Of the whole picture, unless its ranks need more. */
  width: number;
  /** Least width of a node. */
  nodeWidth: number;
  nodeHeight: number;
  /** Between nodes of a rank. */
  rowGap: number;
  /** Least room between ranks. */
  rankGap: number;
  /** Height that lines take that pass a rank. */
  laneHeight: number;
}

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Where a thing stands. */
export interface PlacedNode extends Box {
  id: string;
}

/** The way of a line: from side to side, through lanes in the ranks that it passes. */
interface PlacedEdge extends RankedEdge {
  /** An SVG path. */
  path: string;
}

/** Where everything stands. */
export interface RankedLayout {
  nodes: PlacedNode[];
  edges: PlacedEdge[];
  /** Of each rank, its left side. */
  ranks: number[];
  nodeWidth: number;
  width: number;
  height: number;
}

/** Something that takes room in a rank: a node, or the lane of all lines from one node that pass it. */
interface Slot {
  id: string;
  rank: number;
  isLane: boolean;
}

interface Step {
  from: string;
  to: string;
}

interface Graph {
  ranks: Slot[][];
  steps: Step[];
  /** The slots of each line, its ends included. */
  ways: Map<RankedEdge, string[]>;
}

const laneId = (from: string, rank: number): string => JSON.stringify([from, rank]);

/** Leads each line from rank to rank; lines of one node share a lane in a rank that they pass. */
function graphOf(nodes: readonly RankedNode[], edges: readonly RankedEdge[]): Graph {
  const rankOf = new Map(nodes.map(({ id, rank }) => [id, rank]));
  const count = Math.max(0, ...nodes.map(({ rank }) => rank + 1));
  const ranks = Array.from({ length: count }, (_, rank): Slot[] =>
    nodes.filter((node) => node.rank === rank).map(({ id }) => ({ id, rank, isLane: false })),
  );
  const steps = new Map<string, Step>();
  const ways = new Map<RankedEdge, string[]>();
  const lanes = new Set<string>();
  for (const edge of edges) {
    const [first, last] = [rankOf.get(edge.from), rankOf.get(edge.to)];
    if (first === undefined || last === undefined || first >= last) continue;
    const way = [edge.from];
    for (let rank = first + 1; rank < last; rank++) {
      const id = laneId(edge.from, rank);
      if (!lanes.has(id)) ranks[rank]?.push({ id, rank, isLane: true });
      lanes.add(id);
      way.push(id);
    }
    way.push(edge.to);
    for (const [at, to] of way.slice(1).entries()) {
      const from = way[at] ?? "";
      steps.set(JSON.stringify([from, to]), { from, to });
    }
    ways.set(edge, way);
  }
  return { ranks, steps: [...steps.values()], ways };
}

function neighbours(steps: readonly Step[], near: "from" | "to", far: "from" | "to"): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const step of steps) {
    const list = found.get(step[near]);
    if (list === undefined) found.set(step[near], [step[far]]);
    else list.push(step[far]);
  }
  return found;
}

/** Places of slots in their rank, from 0 to 1, so that ranks of different lengths compare. */
function placesIn(rank: readonly Slot[]): Map<string, number> {
  return new Map(rank.map(({ id }, index) => [id, (index + 0.5) / rank.length]));
}

/** Orders a rank by the middle of what each slot is tied to in the rank beside it; equal ones stay as they are. */
function byBarycentre(
  rank: readonly Slot[],
  beside: readonly Slot[],
  tied: ReadonlyMap<string, string[]>,
): Slot[] {
  const [places, own] = [placesIn(beside), placesIn(rank)];
  const middle = ({ id }: Slot): number => {
    const ends = (tied.get(id) ?? []).flatMap((end) => places.get(end) ?? []);
    return ends.length === 0 ? (own.get(id) ?? 0) : ends.reduce((sum, place) => sum + place, 0) / ends.length;
  };
  const middles = new Map(rank.map((slot) => [slot.id, middle(slot)]));
  return rank.toSorted((a, b) => (middles.get(a.id) ?? 0) - (middles.get(b.id) ?? 0));
}

/** Orders the ranks so that few lines cross: once from the first to the last, once back. */
function order({ ranks, steps }: Graph): Slot[][] {
  const ordered = [...ranks];
  const before = neighbours(steps, "to", "from");
  const after = neighbours(steps, "from", "to");
  for (let rank = 1; rank < ordered.length; rank++)
    ordered[rank] = byBarycentre(ordered[rank] ?? [], ordered[rank - 1] ?? [], before);
  for (let rank = ordered.length - 2; rank >= 0; rank--)
    ordered[rank] = byBarycentre(ordered[rank] ?? [], ordered[rank + 1] ?? [], after);
  return ordered;
}

function stack(
  rank: readonly Slot[],
  x: number,
  nodeWidth: number,
  height: number,
  sizes: RankSizes,
): Map<string, Box> {
  const heightOf = ({ isLane }: Slot): number => (isLane ? sizes.laneHeight : sizes.nodeHeight);
  const needed = rank.reduce((sum, slot) => sum + heightOf(slot) + sizes.rowGap, -sizes.rowGap);
  let y = Math.max(0, (height - needed) / 2);
  return new Map(
    rank.map((slot) => {
      const box = { x, y, width: nodeWidth, height: heightOf(slot) };
      y += box.height + sizes.rowGap;
      return [slot.id, box];
    }),
  );
}

const round = (value: number): number => Math.round(value * 10) / 10;

/** Draws a way: curves between ranks, straight through lanes. */
function pathOf(boxes: readonly Box[]): string {
  const [first, ...rest] = boxes;
  if (first === undefined) return "";
  let [x, y] = [first.x + first.width, first.y + first.height / 2];
  let path = `M${round(x)} ${round(y)}`;
  for (const [index, box] of rest.entries()) {
    const [toX, toY] = [box.x, box.y + box.height / 2];
    const bend = round((x + toX) / 2);
    path += `C${bend} ${round(y)} ${bend} ${round(toY)} ${round(toX)} ${round(toY)}`;
    if (index < rest.length - 1) path += `H${round(toX + box.width)}`;
    [x, y] = [toX + box.width, toY];
  }
  return path;
}

/**
 * Places things whose ranks are known in columns, so that few of the lines between them cross: by two barycentre sweeps, in
 * time that grows with what there is. The same input gives the same picture. Lines that do not lead onwards are left out.
 */
export function layOutRanks(
  nodes: readonly RankedNode[],
  edges: readonly RankedEdge[],
  sizes: RankSizes,
): RankedLayout {
  const graph = graphOf(nodes, edges);
  const ranks = order(graph);
  const count = Math.max(1, ranks.length);
  const least = count * sizes.nodeWidth + (count - 1) * sizes.rankGap;
  const width = Math.max(sizes.width, least);
  const nodeWidth = sizes.nodeWidth + (width - least) / count;
  const heights = ranks.map((rank) =>
    rank.reduce((sum, { isLane }) => sum + (isLane ? sizes.laneHeight : sizes.nodeHeight) + sizes.rowGap, 0),
  );
  const height = Math.max(sizes.nodeHeight, ...heights.map((sum) => sum - sizes.rowGap));
  const lefts = ranks.map((_, rank) => rank * (nodeWidth + sizes.rankGap));
  const boxes = new Map(
    ranks.flatMap((rank, index) => [...stack(rank, lefts[index] ?? 0, nodeWidth, height, sizes)]),
  );
  const boxOf = (id: string): Box[] => {
    const box = boxes.get(id);
    return box === undefined ? [] : [box];
  };
  return {
    nodes: ranks.flatMap((rank) =>
      rank.filter(({ isLane }) => !isLane).flatMap(({ id }) => boxOf(id).map((box) => ({ id, ...box }))),
    ),
    edges: [...graph.ways].map(([edge, way]) => ({ ...edge, path: pathOf(way.flatMap(boxOf)) })),
    ranks: lefts,
    nodeWidth,
    width,
    height,
  };
}
