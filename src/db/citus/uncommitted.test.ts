import fc from "fast-check";
import { expect, it } from "vitest";

import type { Executor } from "../connect.ts";
import { waitForCommits } from "./uncommitted.ts";

/** Nodes whose worker shows these prepared transactions at each look, the last ones from then on. */
function nodesThatShow(looks: readonly string[][], committed: readonly string[]) {
  const count = { looks: 0, questions: 0 };
  const executor = {
    one: async () => {
      const prepared = looks[Math.min(count.looks, looks.length - 1)] ?? [];
      count.looks += 1;
      return { prepared };
    },
    all: async () => {
      count.questions += 1;
      return committed.map((gid) => ({ gid }));
    },
  };
  return { count, executor: executor as unknown as Executor };
}

const gids = fc.uniqueArray(fc.constantFrom("citus_0_1", "citus_0_2", "citus_0_3", "citus_0_4"));

it("waits until what was committed is prepared no more, and for nothing else", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(gids, { minLength: 1, maxLength: 4 }), gids, async (looks, known) => {
      const first = looks[0]!;
      const committed = first.filter((gid) => known.includes(gid));
      const { executor, count } = nodesThatShow([...looks, []], committed);
      await waitForCommits(executor, "org");
      // What is gone is committed: it need not be gone at one and the same look.
      let waiting = committed;
      const enough = looks.findIndex((look) => {
        waiting = waiting.filter((gid) => look.includes(gid));
        return waiting.length === 0;
      });
      expect(count.looks).toBe((enough === -1 ? looks.length : enough) + 1);
      expect(count.questions).toBe(first.length === 0 ? 0 : 1);
    }),
    { numRuns: 40 },
  );
});

it("fails when a node that is away has prepared what it was to commit", async () => {
  const { executor } = nodesThatShow([["citus_0_1"]], ["citus_0_1"]);
  await expect(waitForCommits(executor, "org", 50)).rejects.toThrow("not yet committed");
});
