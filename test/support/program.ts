import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdtempSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";

import { buildSync } from "esbuild";

import { sha256 } from "../../src/lib/hash.ts";

const root = join(import.meta.dirname, "..", "..");

/** Where the processes of a run find what one of them has made for all. */
const setting = "WAYBILL_TEST_FOLDER";

/** Puts into a folder what a package has beside its program, and the packages it needs. */
function furnish(folder: string): void {
  for (const name of ["package.json", "migrations", "share"])
    cpSync(join(root, name), join(folder, name), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
}

/** Builds the package as it is installed into a folder, beside the packages it needs. */
function build(folder: string): void {
  furnish(folder);
  execFileSync(process.execPath, [join(root, "scripts", "build-program.mjs"), join(folder, "dist")]);
}

/** Copies the package as it is installed into a folder of a test's own, which exists. @returns the file to run. */
export function copyProgram(folder: string): string {
  const from = dirname(dirname(builtProgram()));
  cpSync(from, folder, { recursive: true, verbatimSymlinks: true });
  return join(folder, "dist", "main.js");
}

/**
 * Makes room for what is made once in a run, and tells its processes where that is.
 * @returns what has it made anew, when tests run again after a change, and what gives the room back.
 */
export function offerFolder(): { renew: () => void; remove: () => void } {
  const all = mkdtempSync(join(tmpdir(), "waybill-run-"));
  const renew = (): void => {
    const folder = mkdtempSync(join(all, "run-"));
    // PostgreSQL, which reads its archive's scripts there, runs as another user when the tests are root's.
    for (const path of [all, folder]) chmodSync(path, 0o755);
    process.env[setting] = folder;
  };
  renew();
  return { renew, remove: () => rmSync(all, { recursive: true, force: true }) };
}

/** Finds the folder for what is made once in a run. It ends with the run. */
function folderOfRun(): string {
  const folder = process.env[setting];
  if (folder === undefined) throw new Error("Only a run of tests has a folder of its own");
  return folder;
}

const inTheMaking = new Map<string, Promise<string>>();

/** Finds a folder that is made by who asks for it first in a run, and there for all. */
export function madeOnce(name: string, make: (own: string) => Promise<void>): Promise<string> {
  const there = join(folderOfRun(), name);
  const known = inTheMaking.get(there);
  if (known !== undefined) return known;
  const made = existsSync(there) ? Promise.resolve(there) : makeAt(there, make);
  inTheMaking.set(there, made);
  // Whoever asks later tries again.
  made.catch(() => inTheMaking.delete(there));
  return made;
}

async function makeAt(there: string, make: (own: string) => Promise<void>): Promise<string> {
  const own = newFolder();
  await make(own);
  return moved(own, there);
}

/** Does what `madeOnce` does, without giving way to anything else. */
function madeOnceSync(name: string, make: (own: string) => void): string {
  const there = join(folderOfRun(), name);
  if (existsSync(there)) return there;
  const own = newFolder();
  make(own);
  return moved(own, there);
}

function newFolder(): string {
  const own = mkdtempSync(join(folderOfRun(), "new-"));
  chmodSync(own, 0o755);
  return own;
}

/** Puts what was made where others find it. */
function moved(own: string, there: string): string {
  try {
    renameSync(own, there);
  } catch (error) {
    // Somebody else was faster.
    if (!existsSync(there)) throw error;
    rmSync(own, { recursive: true, force: true });
  }
  return there;
}

/**
 * Finds the program as it is shipped, but for its pages: built by who asks for it first in a run, which takes some two seconds, and
 * there for all. From its sources a process takes six seconds of a processor more to start, each time.
 * @returns the file to run.
 */
export function builtProgram(): string {
  return join(madeOnceSync("package", build), "dist", "main.js");
}

/** A program of the tests' own: a file, relative to the package or absolute, or the text of a module that has the package's sources. */
type OwnProgram = { file: string } | { text: string };

/**
 * Puts a program of the tests' own, with all sources it needs, into one file: finding, reading and compiling them one by one is most of
 * what a process does. It is made once in a run.
 * @param hasParts whether it is a server, and has what runs late in files of its own. @returns the file to run.
 */
export function bundled(program: OwnProgram, hasParts = false): string {
  const isFile = "file" in program;
  const name = isFile ? basename(program.file, ".ts") : "text";
  const key = sha256(isFile ? resolve(root, program.file) : program.text).toString("hex");
  const parts = hasParts ? join(dirname(builtProgram()), "parts") : undefined;
  const folder = madeOnceSync(`bundle-${key}`, (own) => {
    furnish(own);
    buildSync({
      ...(isFile
        ? { entryPoints: [resolve(root, program.file)] }
        : { stdin: { contents: program.text, resolveDir: root, loader: "ts" } }),
      outdir: join(own, "dist"),
      entryNames: name,
      bundle: true,
      // What is loaded late stays in a file of its own.
      splitting: true,
      platform: "node",
      target: "node20.19",
      format: "esm",
      packages: "external",
      logLevel: "warning",
    });
    if (parts !== undefined) symlinkSync(parts, join(own, "dist", "parts"));
  });
  return join(folder, "dist", `${name}.js`);
}
