import { spaceEndpoints } from "../../src/contract/spaces.ts";
import { spaces } from "../data/spaces.ts";
import type { Demo } from "../plan.ts";

/** Ids of spaces, by their key in the data. */
export type SpaceIds = ReadonlyMap<string, string>;

/** Creates the tree of spaces, from the root down. */
export function createSpaces({ api, org, progress }: Demo): Promise<SpaceIds> {
  return progress.step("Spaces", spaces.length, async (advance) => {
    const ids = new Map<string, string>();
    for (const { key, name, parent } of spaces) {
      const parent_id = parent === null ? null : (ids.get(parent) ?? null);
      const made = await api.call(spaceEndpoints.create_space, {
        params: { org },
        body: { name, parent_id },
      });
      ids.set(key, made.id);
      advance();
    }
    return ids;
  });
}
