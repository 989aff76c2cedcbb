/** What is said of anything that is judged. */
export type Verdict = "compliant" | "non-compliant" | "incomplete" | "unknown" | "missing" | "exempt";

/** Words for a verdict, as they stand beside its shape. */
export const verdictWords: Readonly<Record<Verdict, string>> = {
  compliant: "Compliant",
  "non-compliant": "Non-compliant",
  incomplete: "Incomplete",
  unknown: "Unknown",
  missing: "Missing",
  exempt: "Allowed",
};

const byState: Readonly<Record<string, Verdict>> = {
  COMPLIANT: "compliant",
  compliant: "compliant",
  "NON-COMPLIANT": "non-compliant",
  "non-compliant": "non-compliant",
  non_compliant: "non-compliant",
  INCOMPLETE: "incomplete",
  incomplete: "incomplete",
  MISSING: "missing",
  missing: "missing",
};

/** Reads a state that is told as text; what is not known, or no text, is unknown. */
export function verdictOfText(state: string | null | undefined): Verdict {
  return (state === null || state === undefined ? undefined : byState[state]) ?? "unknown";
}

/** Reads a state that is true, false, or null while unknown. */
export function verdictOfFlag(state: boolean | null | undefined): Verdict {
  if (state === true) return "compliant";
  return state === false ? "non-compliant" : "unknown";
}

/**
 * Reads the verdict of a snapshot, whose `compliant` is false also when it is not known: then no artifact fails, though in a logical
 * environment some may comply.
 */
export function verdictOfSnapshot(compliant: boolean, non_compliant_count: number | undefined): Verdict {
  if (compliant) return "compliant";
  return non_compliant_count === 0 ? "unknown" : "non-compliant";
}

/** Reads the verdict of an artifact that runs: what was allowed is exempt from all rules. */
export function verdictOfArtifact(compliant: boolean | null | undefined, allow_listed?: boolean): Verdict {
  return allow_listed === true ? "exempt" : verdictOfFlag(compliant);
}
