import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdtempSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dirname, "..", "..");

/** Where the processes of a run find what one of them has made for all. */
const setting = "WAYBILL_TEST_FOLDER";

/** Builds the package as it is installed into a folder, beside the packages it needs. @returns the file to run. */
function build(folder: string): string {
  for (const name of ["package.json", "migrations", "share"])
    cpSync(join(root, name), join(folder, name), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  execFileSync(process.execPath, [join(root, "scripts", "build-program.mjs"), join(folder, "dist")]);
  return join(folder, "dist", "main.js");
}

/** Builds the package into a folder of a test's own, for tests of the build. @returns the file to run. */
export async function buildProgram(folder: string): Promise<string> {
  return build(folder);
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
export function folderOfRun(): string {
  const folder = process.env[setting];
  if (folder === undefined) throw new Error("Only a run of tests has a folder of its own");
  return folder;
}

/**
 * Finds the program as it is shipped, but for its pages: built by who asks for it first in a run, which takes some two seconds, and
 * there for all. From its sources a process takes two seconds of a processor more to start, each time.
 * @returns the file to run.
 */
export function builtProgram(): string {
  const folder = folderOfRun();
  const there = join(folder, "package");
  const program = join(there, "dist", "main.js");
  if (existsSync(program)) return program;
  const own = mkdtempSync(join(folder, "new-"));
  chmodSync(own, 0o755);
  build(own);
  try {
    renameSync(own, there);
  } catch (error) {
    // Somebody else was faster.
    if (!existsSync(program)) throw error;
    rmSync(own, { recursive: true, force: true });
  }
  return program;
}
