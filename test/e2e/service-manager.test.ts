import { spawn, spawnSync } from "node:child_process";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

import { describe, expect, it } from "vitest";

import { startServer, withUsedDataDir } from "../support/server-process.ts";

const has = (command: string): boolean => spawnSync("sh", ["-c", `command -v ${command}`]).status === 0;

// Node.js has no such sockets.
const receive = `use Socket; $| = 1; socket(S, AF_UNIX, SOCK_DGRAM, 0) or die; bind(S, sockaddr_un($ARGV[0])) or die;
print "bound\\n"; while (defined recv(S, $m, 4096, 0)) { print "$m\\n"; }`;

describe.skipIf(!has("systemd-notify") || !has("perl"))("a service manager", () => {
  it("is told when the server is ready, and when it stops", { timeout: 90_000 }, async () => {
    await withUsedDataDir(async (dataDir) => {
      const socket = join(dataDir, "..", "notify");
      const manager = spawn("perl", ["-e", receive, socket], { stdio: ["ignore", "pipe", "inherit"] });
      let heard = "";
      manager.stdout.setEncoding("utf8").on("data", (text: string) => (heard += text));
      const until = async (text: string): Promise<void> => {
        const deadline = Date.now() + 30_000;
        while (!heard.includes(text)) {
          if (Date.now() > deadline) throw new Error(`never heard: ${text}, but ${heard}`);
          await delay(20);
        }
      };
      try {
        await until("bound");
        chmodSync(socket, 0o666);
        const server = await startServer(dataDir, { NOTIFY_SOCKET: socket });
        await until("READY=1");
        expect(heard).not.toContain("STOPPING=1");
        expect(await server.stop()).toBe(0);
        await until("STOPPING=1");
        expect(heard.match(/READY=1/g)).toHaveLength(1);
      } finally {
        manager.kill();
      }
    });
  });
});
