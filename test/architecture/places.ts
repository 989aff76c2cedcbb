/** Where a file stands: its floor, and within `src/modules` its wing and module. */
export interface Place {
  /** Index of the floor in `floors`; a file takes only from its own floor and those below. */
  floor: number;
  /** Set where files of one floor do not know each other: only files with the same room do. */
  room?: string;
  wing?: string;
  module?: string;
}

interface Rule {
  path: RegExp;
  /** Which part of the path names the room. */
  apart?: (path: string) => string;
}

const firstFolder = (path: string): string => path.split("/")[1] ?? path;
const module = (path: string): string => path.split("/").slice(2, 4).join("/");

const fragment = /^src\/modules\/.+-sql\.ts$/;
const store = /^src\/modules\/.+\/(?:[a-z-]+-)?store\.ts$/;
const handlers = /^src\/modules\/.+\/(?:[a-z-]+-)?handlers\.ts$/;
// Only the kernel has files of its own; elsewhere a file is in a module of its wing.
const inWing = /^src\/modules\/(?:kernel|[a-z]+\/[a-z-]+)\/.+\.ts$/;

/** The floors of the house, from the ground up. The first rule that fits a path decides. */
export const floors: readonly { name: string; rules: readonly Rule[] }[] = [
  { name: "lib", rules: [{ path: /^src\/lib\// }] },
  { name: "domain", rules: [{ path: /^src\/domain\// }] },
  { name: "foundations", rules: [{ path: /^src\/(?:contract|db|evidence)\//, apart: firstFolder }] },
  {
    name: "configuration",
    rules: [{ path: /^src\/config(?:-[a-z]+)?\.ts$/ }],
  },
  { name: "fragments of SQL", rules: [{ path: fragment }] },
  { name: "stores", rules: [{ path: store, apart: module }] },
  { name: "services", rules: [] },
  { name: "handlers", rules: [{ path: handlers, apart: module }] },
  { name: "all handlers", rules: [{ path: /^src\/modules\/handlers\.ts$/ }] },
  { name: "entrances", rules: [{ path: /^src\/(?:http|jobs)\//, apart: firstFolder }] },
  { name: "composition", rules: [{ path: /^src\/(?:app|open-database)\.ts$/ }] },
  { name: "commands", rules: [{ path: /^src\/cli\// }, { path: /^demo\// }, { path: /^src\/main\.ts$/ }] },
  { name: "pages", rules: [{ path: /^web\// }] },
];

const services = floors.findIndex(({ name }) => name === "services");

/** The wings of `src/modules`, and the wings that each may call besides itself. */
export const wings: Readonly<Record<string, readonly string[]>> = {
  kernel: [],
  identity: ["kernel"],
  process: ["kernel", "identity", "notices"],
  notices: ["kernel", "identity", "process"],
  runtime: ["kernel", "identity", "process", "notices"],
  views: ["kernel", "identity", "process", "notices", "runtime"],
  maintenance: ["kernel", "identity", "process", "notices", "runtime"],
};

/** Finds the place of a source file; undefined for a file that has none. */
export function placeOf(path: string): Place | undefined {
  const [, , wing = ""] = path.split("/");
  const within = inWing.test(path) ? { wing, module: module(path) } : {};
  for (const [floor, { rules }] of floors.entries()) {
    const rule = rules.find((one) => one.path.test(path));
    if (rule !== undefined) return { floor, ...(rule.apart && { room: rule.apart(path) }), ...within };
  }
  return within.wing !== undefined && within.wing in wings ? { floor: services, ...within } : undefined;
}
