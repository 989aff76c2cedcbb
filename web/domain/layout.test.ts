import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { layOutRanks, type RankedEdge, type RankedNode } from "./layout.ts";

const sizes = { width: 1000, nodeWidth: 150, nodeHeight: 46, rowGap: 8, rankGap: 32, laneHeight: 8 };

/** Up to 200 things in five ranks, and lines between any of them. */
const graphs = fc
  .record({
    ranks: fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 1, maxLength: 200 }),
    lines: fc.array(fc.tuple(fc.nat(), fc.nat()), { maxLength: 400 }),
  })
  .map(({ ranks, lines }) => {
    const nodes: RankedNode[] = ranks.map((rank, index) => ({ id: `n${index}`, rank }));
    const edges: RankedEdge[] = lines.map(([a, b]) => ({
      from: `n${a % nodes.length}`,
      to: `n${b % nodes.length}`,
    }));
    return { nodes, edges };
  });

describe("the picture in ranks", () => {
  it("places every thing once, in the column of its rank, and lets none overlap", () => {
    fc.assert(
      fc.property(graphs, ({ nodes, edges }) => {
        const layout = layOutRanks(nodes, edges, sizes);
        expect(layout.nodes.map(({ id }) => id).toSorted()).toEqual(nodes.map(({ id }) => id).toSorted());
        const rankOf = new Map(nodes.map(({ id, rank }) => [id, rank]));
        const bottoms = new Map<number, number>();
        for (const { id, x, y, width, height } of layout.nodes) {
          const rank = rankOf.get(id) ?? -1;
          expect(x).toBe(layout.ranks[rank]);
          expect(y).toBeGreaterThanOrEqual(bottoms.get(rank) ?? 0);
          expect(x + width).toBeLessThanOrEqual((layout.ranks[rank + 1] ?? layout.width + 1) + 0.001);
          expect(y + height).toBeLessThanOrEqual(layout.height + 0.001);
          bottoms.set(rank, y + height + sizes.rowGap - 0.001);
        }
      }),
    );
  });

  it("draws exactly the lines that lead onwards, and the same each time", () => {
    fc.assert(
      fc.property(graphs, ({ nodes, edges }) => {
        const rankOf = new Map(nodes.map(({ id, rank }) => [id, rank]));
        const layout = layOutRanks(nodes, edges, sizes);
        const onwards = edges.filter(({ from, to }) => (rankOf.get(from) ?? 0) < (rankOf.get(to) ?? 0));
        expect(layout.edges.map(({ from, to }) => ({ from, to }))).toEqual(onwards);
        for (const { path } of layout.edges) expect(path).toMatch(/^M[\d.]+ [\d.]+(?:C[\d. ]+|H[\d.]+)+$/);
        expect(layOutRanks(structuredClone(nodes), structuredClone(edges), sizes)).toEqual(layout);
      }),
    );
  });

  it("uncrosses what two ranks can be ordered for", () => {
    const ids = Array.from({ length: 30 }, (_, index) => index);
    const nodes = [
      ...ids.map((index) => ({ id: `a${index}`, rank: 0 })),
      ...ids.map((index) => ({ id: `b${(index * 7) % 30}`, rank: 1 })),
    ];
    const { nodes: placed } = layOutRanks(
      nodes,
      ids.map((index) => ({ from: `a${index}`, to: `b${index}` })),
      sizes,
    );
    const y = new Map(placed.map((node) => [node.id, node.y]));
    for (const index of ids) expect(y.get(`b${index}`)).toBe(y.get(`a${index}`));
  });

  it("keeps lines out of the things that they pass", () => {
    const nodes = [
      { id: "trail", rank: 0 },
      { id: "artifact", rank: 1 },
      { id: "evidence", rank: 2 },
    ];
    const { edges, nodes: placed } = layOutRanks(nodes, [{ from: "trail", to: "evidence" }], sizes);
    const artifact = placed.find(({ id }) => id === "artifact");
    const lane = Number(/ ([\d.]+)H/.exec(edges[0]?.path ?? "")?.[1]);
    expect(lane < artifact!.y || lane > artifact!.y + artifact!.height).toBe(true);
  });
});
