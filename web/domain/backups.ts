/** What of a backup, restore or drill the words are about. */
interface Run {
  kind: "backup" | "restore" | "restore_drill";
  state: "running" | "succeeded" | "failed" | "interrupted";
  scheduled: boolean;
  problem: string | null;
}

const kinds: Readonly<Record<Run["kind"], string>> = {
  backup: "Backup",
  restore: "Restore",
  restore_drill: "Restore drill",
};

/** Says what was done. */
export function runKindWords(kind: Run["kind"]): string {
  return kinds[kind];
}

/** Says how it ended, and how that is to be taken: one with something to look at is no failure. */
export function runStateWords({
  state,
  problem,
}: Pick<Run, "state" | "problem">): readonly ["good" | "bad" | "warn" | "quiet", string] {
  if (state === "running") return ["quiet", "under way"];
  if (state === "interrupted") return ["bad", "interrupted"];
  if (state === "failed") return ["bad", "failed"];
  return problem === null ? ["good", "succeeded"] : ["warn", "with warnings"];
}

const units = ["bytes", "kB", "MB", "GB", "TB"] as const;

/** Writes a number of bytes in the largest decimal unit of which there is one: `1.5 GB`. */
export function bytesInWords(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3));
  const count = bytes / 1000 ** power;
  return `${power === 0 || count >= 100 ? Math.round(count) : count.toFixed(1)} ${units[power]}`;
}

/** Gives the name of a backup's file, without its folder; undefined for one that went to standard output. */
export function fileName(file: string | null): string | undefined {
  return file === null || file === "-" ? undefined : file.slice(file.lastIndexOf("/") + 1);
}
