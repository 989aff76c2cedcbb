import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";

import { folderOnDisk } from "./memory-folder.ts";

const execute = promisify(execFile);
const script = join(import.meta.dirname, "systemd-root.sh");

/** How a command ended. */
export interface Ended {
  status: number;
  /** What it printed to both of its outputs. */
  text: string;
}

/** A copy of a Debian whose own systemd runs, with a network of its own. Needs root. */
export class RunningDebian {
  /** Folder of its files, as this machine sees them. */
  readonly root: string;
  readonly #folder: string;
  readonly #child: ChildProcess;
  readonly #init: number;

  private constructor(folder: string, child: ChildProcess, init: number) {
    this.#folder = folder;
    this.root = join(folder, "root");
    this.#child = child;
    this.#init = init;
  }

  /** Copies a root with systemd in it, such as debootstrap makes, and waits until what runs there has started. */
  static async start(from: string): Promise<RunningDebian> {
    const folder = mkdtempSync(join(folderOnDisk(), "waybill-debian-"));
    chmodSync(folder, 0o755);
    const root = join(folder, "root");
    await execute("cp", ["-a", from, root]);
    const namespaces = ["--mount", "--pid", "--fork", "--kill-child", "--net", "--uts", "--ipc", "--cgroup"];
    const child = spawn("unshare", [...namespaces, "sh", script, root], { stdio: "ignore" });
    const children = `/proc/${child.pid}/task/${child.pid}/children`;
    const deadline = Date.now() + 60_000;
    for (;;) {
      if (child.exitCode !== null || Date.now() > deadline) throw new Error("systemd does not run here");
      const init = Number(readFileSync(children, "utf8").trim());
      const running = new RunningDebian(folder, child, init);
      if (init > 0 && readFileSync(`/proc/${init}/comm`, "utf8").trim() === "systemd") {
        const { text } = await running.run("systemctl is-system-running");
        if (/^(?:running|degraded)$/m.test(text)) return running;
      }
      await delay(100);
    }
  }

  /** Runs a line of shell in it. */
  async run(line: string): Promise<Ended> {
    const namespaces = ["--mount", "--pid", "--net", "--uts", "--ipc", "--cgroup", "--root", "--wd"];
    const inside = [
      "env",
      "-i",
      "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
      "sh",
      "-c",
      `cd /; exec 2>&1; ${line}`,
    ];
    const args = ["--target", String(this.#init), ...namespaces, ...inside];
    return execute("nsenter", args, { timeout: 120_000, maxBuffer: 64 * 1024 * 1024 }).then(
      ({ stdout }) => ({ status: 0, text: stdout }),
      (error: Error & { code?: unknown; stdout?: string }) => ({
        status: typeof error.code === "number" ? error.code : -1,
        text: error.stdout ?? error.message,
      }),
    );
  }

  /** Starts a program of this machine in its network alone. */
  spawnInNetwork(...command: string[]): ChildProcess {
    const args = ["--target", String(this.#init), "--net", ...command];
    return spawn("nsenter", args, { stdio: ["pipe", "pipe", "inherit"] });
  }

  /** Ends all that runs there, and removes the files. */
  async stop(): Promise<void> {
    const ended = once(this.#child, "exit");
    process.kill(this.#init, "SIGKILL");
    await ended;
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
