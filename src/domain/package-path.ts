import { evidenceName } from "./evidence-file.ts";

/**
 * One segment of a path in an archive: nothing that a file system, a shell or `sha256sum -c` takes for something else.
 * What people gave as names stays readable.
 */
export function safeSegment(given: string): string {
  const name = evidenceName(given.replace(/[<>:"|?*\\/]/g, "_")).replace(/^[-~ ]+|[. ]+$/g, "_");
  // Names that one widespread system takes for devices.
  return /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i.test(name) ? `_${name}` : name;
}

/** Gives out paths for the files of one archive, each once, however the names given for them look. */
export function createPathBook(root: string): (...segments: string[]) => string {
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
