// Makes what can be installed from what `npm run build` has made. Nothing is fetched: Node.js and the image's base are given.
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

import { makeChart } from "./chart.mjs";
import { makeDeb } from "./deb.mjs";
import { makeImage } from "./image.mjs";
import { packProgram, root, stage, version } from "./stage.mjs";
import { makeTarball } from "./tarball.mjs";

const has = (command) => spawnSync("sh", ["-c", `command -v ${command}`]).status === 0;

/** Leaves what every package carries, unpacked: what a Containerfile copies. */
function makeFolder(staged, output) {
  const folder = join(output, "waybill");
  rmSync(folder, { recursive: true, force: true });
  cpSync(staged, folder, { recursive: true, verbatimSymlinks: true });
  return folder;
}

const alone = { npm: packProgram, chart: (output, options) => makeChart(work, output, options) };
const staged = { folder: makeFolder, tarball: makeTarball, deb: makeDeb, image: makeImage };
const kinds = [...Object.keys(alone), ...Object.keys(staged)];
// Programs that some need, and that are not everywhere.
const needed = { deb: "dpkg-deb", image: "buildah" };

const { values } = parseArgs({
  options: {
    // The binary of a Node.js 22 or newer for this platform.
    node: { type: "string", default: process.execPath },
    // Where the packages go.
    output: { type: "string", default: join(root, "packages") },
    // Some of the kinds above instead of all but the folder.
    only: { type: "string", multiple: true },
    // What the image stands on, as FROM takes it.
    "base-image": { type: "string", default: "debian:bookworm-slim" },
    // Carries whatever Node.js there is: to try the packages, not to give them away.
    "any-node": { type: "boolean", default: false },
    // Compresses little: to try the packages, not to give them away.
    quick: { type: "boolean", default: false },
  },
});

const platform = `${process.platform}-${process.arch}`;
const output = resolve(values.output);
const work = mkdtempSync(join(tmpdir(), "waybill-package-"));
try {
  const asked = values.only ?? kinds.filter((kind) => kind !== "folder");
  const unknown = asked.find((kind) => !kinds.includes(kind));
  if (unknown !== undefined) throw new Error(`There is no package ${unknown}: there are ${kinds.join(", ")}`);
  mkdirSync(output, { recursive: true });
  const options = { version, platform, baseImage: values["base-image"], isQuick: values.quick };
  const wanted = asked.filter((kind) => {
    if (needed[kind] === undefined || has(needed[kind])) return true;
    if (values.only !== undefined) throw new Error(`${kind} needs the program ${needed[kind]}`);
    console.log(`${kind}: left out, there is no ${needed[kind]} here`);
    return false;
  });
  for (const kind of wanted) if (kind in alone) console.log(alone[kind](output, options));
  const carrying = wanted.filter((kind) => kind in staged);
  if (carrying.length > 0) {
    const tree = join(work, "waybill");
    const node = { node: resolve(values.node), platform, anyNode: values["any-node"] };
    console.log(`Node.js ${stage(tree, node)}`);
    for (const kind of carrying) {
      // Hard links: the makers move files and add some, and change no content.
      const own = join(work, kind);
      execFileSync("cp", ["-al", tree, own]);
      console.log(staged[kind](own, output, options));
    }
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  rmSync(work, { recursive: true, force: true });
}
