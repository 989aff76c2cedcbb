import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { setPriority } from "node:os";
import { extname, join } from "node:path";
import type { Readable } from "node:stream";

import { packageRoot } from "../config.ts";

/** What a command came to. */
export interface CommandOutcome {
  /** Its exit status; null when a signal ended it. */
  status: number | null;
  /** The end of what it wrote to standard output. */
  printed: string;
  /** The end of what it wrote to standard error. */
  told: string;
}

const keptCharacters = 8_000;

/** How long a command may take to clean up when it is asked to end, in milliseconds. */
const patienceMs = 5_000;

/** What is done beside requests gets out of their way. */
export const niceness = 10;

function entry(): string[] {
  if (extname(import.meta.filename) !== ".ts") return [join(packageRoot, "dist", "main.js")];
  return ["--import", import.meta.resolve("tsx"), join(packageRoot, "src", "main.ts")];
}

/** Checks that the package's files are still those of the program that runs. @throws Error that says what to do. */
async function requireOwnFiles(version: string): Promise<void> {
  const text = await readFile(join(packageRoot, "package.json"), "utf8").catch((cause: unknown) => {
    throw new Error("The program's files are gone: install it again, and restart the server", { cause });
  });
  const { version: installed } = JSON.parse(text) as { version: string };
  if (installed !== version)
    throw new Error(`Version ${version} runs, and its files are those of ${installed}: restart the server`);
}

/** Gathers the end of what a stream gives. */
function keepEnd(stream: Readable | null): () => string {
  let text = "";
  stream?.setEncoding("utf8").on("data", (piece: string) => (text = (text + piece).slice(-keptCharacters)));
  return () => text;
}

/**
 * Runs a command of this program in a process of its own, with the same environment and less of the processor's time. It is asked to
 * end when `signal` is aborted, and notices by itself when this process is no more.
 * @param version of the program that runs: the command of another one is not run.
 * @throws Error when the program's files were replaced; what starting a process fails with.
 */
export async function runCommand(
  args: readonly string[],
  version: string,
  signal: AbortSignal,
): Promise<CommandOutcome> {
  signal.throwIfAborted();
  await requireOwnFiles(version);
  // Who was stopped meanwhile is not told again.
  signal.throwIfAborted();
  const child = spawn(process.execPath, [...entry(), ...args], { stdio: ["ignore", "pipe", "pipe", "ipc"] });
  const [printed, told] = [keepEnd(child.stdout), keepEnd(child.stderr)];
  let killing: NodeJS.Timeout | undefined;
  const end = (): void => {
    child.kill("SIGTERM");
    killing = setTimeout(() => child.kill("SIGKILL"), patienceMs);
  };
  try {
    const closed = once(child, "close") as Promise<[number | null]>;
    signal.addEventListener("abort", end, { once: true });
    if (child.pid !== undefined)
      try {
        setPriority(child.pid, niceness);
      } catch {
        // It has ended already, or this is not ours to decide.
      }
    const [status] = await closed;
    return { status, printed: printed(), told: told() };
  } finally {
    clearTimeout(killing);
    signal.removeEventListener("abort", end);
  }
}
