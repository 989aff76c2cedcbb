import { execFile, execFileSync } from "node:child_process";
import { promisify } from "node:util";

/** Whether this machine has a program. */
function has(program: string): boolean {
  try {
    execFileSync("/bin/sh", ["-c", `command -v ${program}`]);
    return true;
  } catch {
    return false;
  }
}

/** Whether commands for curl can be run here. */
export const hasCurl = has("curl");

/** Runs a command as somebody does who has copied it from a page, with their key in the environment. @returns what it printed. */
export async function runCopied(command: string, key: string, cwd = "/tmp"): Promise<string> {
  const { stdout } = await promisify(execFile)("/bin/sh", ["-c", command], {
    cwd,
    env: { PATH: process.env["PATH"], WAYBILL_KEY: key },
    maxBuffer: 64 * 1024 * 1024,
  });
  return stdout;
}
