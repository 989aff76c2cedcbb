/** How often a statement is run before its plan is made anew for the first time. */
const youngest = 16;

interface Age {
  runs: number;
  /** Up to how many runs its plan is kept. */
  kept: number;
}

/**
 * Counts how often the prepared statements of a connection were run, to tell when their plans are old: when one was run twice
 * as often as when plans were made last. So plans follow tables that grow, and of a million runs some sixteen begin with planning.
 */
export function createPlanAges() {
  const ages = new Map<string, Age>();
  return {
    /** Counts a run. @returns whether all plans are to be made anew before it, which counts as done. */
    isOld: (name: string): boolean => {
      const age = ages.get(name) ?? { runs: 0, kept: youngest };
      if (age.runs === 0) ages.set(name, age);
      age.runs += 1;
      if (age.runs <= age.kept) return false;
      for (const each of ages.values()) each.kept = Math.max(2 * each.runs, youngest);
      return true;
    },
  };
}
