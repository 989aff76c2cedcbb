import { execFile } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

import { buildWeb } from "./web-site.ts";

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

/** Copies what packages are made of into a new folder, and builds the program there, whatever has been built here. */
export async function copySource(folder: string): Promise<void> {
  mkdirSync(folder);
  for (const name of sources) cpSync(join(root, name), join(folder, name), { recursive: true });
  await execute("cp", ["-al", join(root, "node_modules"), join(folder, "node_modules")]);
  await execute(process.execPath, [join(root, "scripts/build-program.mjs"), join(folder, "dist")]);
  await buildWeb(join(folder, "dist/web"));
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
  const options = ["--any-node", "--node", carriedNode, "--output", output, ...only, ...base];
  const command = [process.execPath, main, ...options];
  await execute("sh", ["-c", 'umask "$0"; exec "$@"', umask, ...command], {
    env: { ...process.env, SOURCE_DATE_EPOCH: "1700000000" },
  });
}
