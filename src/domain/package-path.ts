import { evidenceName } from "./evidence-file.ts";

/**
 * Makes a text safe as one segment of a path in an archive: nothing that a file system, a shell or `sha256sum -c` would
 * misread. Names stay readable.
 */
export function safeSegment(given: string): string {
  const name = evidenceName(given.replace(/[<>:"|?*\\/]/g, "_")).replace(/^[-~ ]+|[. ]+$/g, "_");
  // Names that one widespread system takes for devices.
  return /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i.test(name) ? `_${name}` : name;
}

/** Makes a function that gives each file of one archive a path of its own, safe and different from all others. */
export function createUniquePaths(root: string): (...segments: string[]) => string {
  // Two paths that differ in case only, or in how an accent is written, are one on some systems.
  const taken = new Set<string>();
  return (...segments) => {
    const safe = [root, ...segments].map(safeSegment);
    const wanted = safe.join("/");
    let path = wanted;
    for (let number = 2; taken.has(path.normalize("NFKC").toLowerCase()); number += 1) {
      const dot = wanted.lastIndexOf(".");
      const cut = dot > wanted.lastIndexOf("/") + 1 ? dot : wanted.length;
      path = `${wanted.slice(0, cut)}-${number}${wanted.slice(cut)}`;
    }
    taken.add(path.normalize("NFKC").toLowerCase());
    return path;
  };
}
