// Puts together what every package carries: the program as `npm pack` ships it, the packages it loads, and Node.js.
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { packagesOutside, postgresPackage } from "../packages-outside.mjs";

export const root = fileURLToPath(new URL("../..", import.meta.url));

const oldestNode = 22;

const manifestOf = (folder) => JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));

export const { version } = manifestOf(root);

/** Finds where a package is that another one loads: the nearest `node_modules` upwards. */
function installed(name, from) {
  const folder = join(from, "node_modules", name);
  if (existsSync(join(folder, "package.json"))) return folder;
  return from === dirname(from) ? undefined : installed(name, dirname(from));
}

/**
 * Lists the folders of packages and of all that they load, each once.
 * @throws Error for one that is not installed and not optional.
 */
function withDependencies(names) {
  const found = new Set();
  const add = (name, from, isOptional) => {
    const folder = installed(name, from);
    if (folder === undefined && isOptional) return;
    if (folder === undefined) throw new Error(`${name} is not installed: run npm ci first`);
    if (found.has(folder)) return;
    found.add(folder);
    const { dependencies = {}, optionalDependencies = {} } = manifestOf(folder);
    for (const one of Object.keys(dependencies)) add(one, folder, one in optionalDependencies);
    for (const one of Object.keys(optionalDependencies)) add(one, folder, true);
  };
  for (const name of names) add(name, root, false);
  return [...found];
}

/** Packs the built program as npm installs it, with neither Node.js nor other packages. @returns the file. */
export function packProgram(output) {
  const arguments_ = ["pack", "--ignore-scripts", "--json", "--pack-destination", output];
  const [{ filename }] = JSON.parse(
    execFileSync("npm", arguments_, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }),
  );
  return join(output, filename);
}

/** Unpacks what `npm pack` makes of the built program. */
function unpackProgram(folder) {
  const packed = mkdtempSync(join(tmpdir(), "waybill-packed-"));
  try {
    const file = packProgram(packed);
    mkdirSync(folder, { recursive: true });
    execFileSync("tar", ["xzf", file, "-C", folder, "--strip-components=1", "--no-same-owner"]);
  } finally {
    rmSync(packed, { recursive: true });
  }
}

/** Asks a Node.js which one it is. */
function nodeVersion(binary) {
  return execFileSync(binary, ["--version"], { encoding: "utf8" }).trim();
}

/** Copies a Node.js with its license. @throws Error for one that gets no more corrections. */
function copyNode(binary, folder, anyNode) {
  const found = nodeVersion(binary);
  if (!anyNode && Number(/^v(\d+)/.exec(found)?.[1]) < oldestNode)
    throw new Error(
      `Packages carry Node.js ${oldestNode} or newer, and ${binary} is ${found}: give another with --node`,
    );
  mkdirSync(folder, { recursive: true });
  cpSync(binary, join(folder, "node"), { dereference: true });
  const license = ["../LICENSE", "../share/doc/node/LICENSE", "../share/doc/nodejs/LICENSE"]
    .map((one) => join(dirname(binary), one))
    .find((one) => existsSync(one));
  if (license !== undefined) cpSync(license, join(folder, "LICENSE"));
  return found;
}

const launcher = `#!/bin/sh
# Runs Waybill with the Node.js that came with it, from wherever this is called or linked to.
self=$(readlink -f "$0")
home=\${self%/bin/waybill}
exec "$home/node/node" "$home/app/dist/main.js" "$@"
`;

/**
 * Puts what runs into a folder: `bin/waybill`, `node`, `app`, `share`.
 * @param node path of the Node.js binary to carry.
 * @param platform of it, such as `linux-x64`.
 */
export function stage(folder, { node, platform, anyNode }) {
  if (!existsSync(join(root, "dist", "web")))
    throw new Error("There is no dist/web: run npm run build first");
  // First: whoever gives the wrong one is told at once.
  const carried = copyNode(node, join(folder, "node"), anyNode);
  const app = join(folder, "app");
  unpackProgram(app);
  for (const from of withDependencies([...packagesOutside, postgresPackage(platform)]))
    cpSync(from, join(app, from.slice(root.length)), {
      recursive: true,
      verbatimSymlinks: true,
      // Packages within packages are copied where they are asked for.
      filter: (path) => !path.slice(from.length).includes("/node_modules"),
    });
  mkdirSync(join(folder, "bin"));
  writeFileSync(join(folder, "bin", "waybill"), launcher);
  chmodSync(join(folder, "bin", "waybill"), 0o755);
  cpSync(join(root, "share"), join(folder, "share"), { recursive: true });
  cpSync(join(root, "docs"), join(folder, "share", "doc"), {
    recursive: true,
    filter: (path) => !path.endsWith("pictures"),
  });
  // Whatever the umask of who cloned and built is: users who are not root run it, and packages of one commit are equal.
  execFileSync("chmod", ["-R", "u+rwX,go+rX,go-w", folder]);
  return carried;
}

/** Seconds since 1970 of what is packed: of its commit, so that two packages of one commit are equal. */
export function sourceDate() {
  const given = process.env["SOURCE_DATE_EPOCH"];
  if (given !== undefined) return given;
  return execFileSync("git", ["log", "-1", "--format=%ct"], { cwd: root, encoding: "utf8" }).trim();
}
