// Makes the packages that carry their own Node.js from what `npm run build` has made. Nothing is fetched: the Node.js is given as a path.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

import { makeDeb } from "./deb.mjs";
import { root, stage, version } from "./stage.mjs";
import { makeTarball } from "./tarball.mjs";

const { values } = parseArgs({
  options: {
    // The binary of a Node.js 22 or newer for this platform.
    node: { type: "string", default: process.execPath },
    // Where the packages go.
    output: { type: "string", default: join(root, "packages") },
    only: { type: "string", multiple: true, default: ["tarball", "deb"] },
    // Carries whatever Node.js there is: to try the packages, not to give them away.
    "any-node": { type: "boolean", default: false },
  },
});

const platform = `${process.platform}-${process.arch}`;
const output = resolve(values.output);
const work = mkdtempSync(join(tmpdir(), "waybill-package-"));
try {
  mkdirSync(output, { recursive: true });
  const staged = join(work, "waybill");
  const carried = stage(staged, { node: resolve(values.node), platform, anyNode: values["any-node"] });
  console.log(`Node.js ${carried}`);
  const makers = { tarball: makeTarball, deb: makeDeb };
  for (const kind of ["tarball", "deb"].filter((one) => values.only.includes(one)))
    console.log(makers[kind](staged, output, { version, platform }));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  rmSync(work, { recursive: true, force: true });
}
