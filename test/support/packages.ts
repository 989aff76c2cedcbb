import { execFile } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

import { builtProgram } from "./program.ts";
import { buildWeb, builtWeb } from "./web-site.ts";

const execute = promisify(execFile);
const root = join(import.meta.dirname, "..", "..");

/** The Node.js that packages carry: a newer one than that which runs this, where one is given. */
export const carriedNode = process.env["WAYBILL_TEST_NODE"] ?? process.execPath;

const sources = [
  "package.json",
  "migrations",
  "share",
  "scripts",
  "openapi.json",
  "docs",
  "deploy",
  "README.md",
  "CHANGELOG.md",
  "Containerfile",
];

/** Copies the packages that tests run with by links: some can be added and removed, none written to. Whoever has them elsewhere keeps them as they are. */
export async function linkPackages(folder: string): Promise<void> {
  await execute("cp", ["-al", realpathSync(join(root, "node_modules")), folder]);
}

/**
 * Copies what packages are made of into a new folder, with what is built of it, whatever has been built here: what the run has built, or
 * built anew.
 */
export async function copySource(
  folder: string,
  { built = "in the run" }: { built?: "in the run" | "anew" } = {},
): Promise<void> {
  mkdirSync(folder);
  for (const name of sources) cpSync(join(root, name), join(folder, name), { recursive: true });
  await linkPackages(join(folder, "node_modules"));
  if (built === "anew") {
    await execute(process.execPath, [join(root, "scripts/build-program.mjs"), join(folder, "dist")]);
    await buildWeb(join(folder, "dist/web"));
  } else {
    cpSync(dirname(builtProgram()), join(folder, "dist"), { recursive: true });
    cpSync(await builtWeb(), join(folder, "dist/web"), { recursive: true });
  }
}

/** Gives a copy of the source another version, and nothing else. */
export function setVersion(source: string, version: string): void {
  const file = join(source, "package.json");
  const text = readFileSync(file, "utf8").replace(/^  "version": "[^"]*"/m, `  "version": "${version}"`);
  rmSync(file);
  writeFileSync(file, text);
}

/** Takes a copy of the source from everybody but its owner, as somebody has it who lets nobody see new files. */
export async function closeSource(source: string): Promise<void> {
  // The packages in it are links to those that tests run with.
  const own = [...sources, "dist"].map((name) => join(source, name));
  await execute("chmod", ["-R", "go-rwx", ...own]);
}

interface Making {
  /** What whoever makes them takes from new files. */
  umask?: string;
  /** What an image stands on. */
  baseImage?: string;
}

/** Makes packages of a copy of the source, into a folder. */
export async function makePackages(
  source: string,
  output: string,
  kinds: readonly string[],
  { umask = "022", baseImage }: Making = {},
): Promise<void> {
  const only = kinds.flatMap((kind) => ["--only", kind]);
  const base = baseImage === undefined ? [] : ["--base-image", baseImage];
  const main = join(source, "scripts/package/main.mjs");
  const options = ["--any-node", "--quick", "--node", carriedNode, "--output", output, ...only, ...base];
  const command = [process.execPath, main, ...options];
  await execute("sh", ["-c", 'umask "$0"; exec "$@"', umask, ...command], {
    env: { ...process.env, SOURCE_DATE_EPOCH: "1700000000" },
  });
}
