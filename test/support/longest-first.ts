import { relative } from "node:path";

import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Takes from two lists in turns; what is left of the longer one comes last. */
function inTurns<T>(one: readonly T[], other: readonly T[]): T[] {
  return Array.from({ length: Math.max(one.length, other.length) }, (_, at) => [
    ...one.slice(at, at + 1),
    ...other.slice(at, at + 1),
  ]).flat();
}

/**
 * Puts files of tests into the order in which they are begun. Those with processes of their own, and those that measure a budget, take
 * longest: they come first, so that what ends the run is short, and no processor waits for the other. Those in a browser keep more than
 * one processor busy, and the others often wait: they take turns.
 * @param pathOf tells a file's path within the project.
 */
export function longestFirst<T>(files: readonly T[], pathOf: (file: T) => string): T[] {
  const isInBrowser = (file: T): boolean => pathOf(file).startsWith("test/e2e/web/");
  const isLong = (file: T): boolean =>
    /^test\/(?:(?:e2e|durability)\/|.*-budget\.test\.ts$)/.test(pathOf(file));
  const waiting = files.filter((file) => isLong(file) && !isInBrowser(file));
  return [...inTurns(files.filter(isInBrowser), waiting), ...files.filter((file) => !isLong(file))];
}

/** Begins what takes long first also where no run before tells how long it took, as on a machine that checks changes. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return longestFirst(sorted, ({ moduleId, project }) => relative(project.config.root, moduleId));
  }
}
