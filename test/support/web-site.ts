import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";

import { fillDemo } from "./demo.ts";
import { madeOnce } from "./program.ts";
import { initialAdminKey, startServer, withUsedDataDir } from "./server-process.ts";

const root = join(import.meta.dirname, "..", "..");

/** A server with the web app and the demo's organization. */
export interface StartedSite {
  url: string;
  /** Key of the administrator of installation and organization. */
  key: string;
  /** Where the server keeps its data. */
  dataDir: string;
}

/** Builds the web app as it is shipped, but for its compressed forms. */
export async function buildWeb(outDir: string): Promise<void> {
  const vite = join(root, "node_modules", "vite", "bin", "vite.js");
  const command = [
    vite,
    "build",
    join(root, "web"),
    "--outDir",
    outDir,
    "--emptyOutDir",
    "--logLevel",
    "warn",
  ];
  await promisify(execFile)(process.execPath, command, { env: { ...process.env, NODE_ENV: "production" } });
}

/**
 * Finds the web app as it is shipped, but for its compressed forms: built by who asks for it first in a run, and there for all.
 * @returns its folder.
 */
export function builtWeb(): Promise<string> {
  return madeOnce("web", buildWeb);
}

/** Starts the site. @returns it, and what ends it. */
export async function startSite(): Promise<{ site: StartedSite; end: () => Promise<void> }> {
  const web = await builtWeb();
  return new Promise((resolve, reject) => {
    const ended = withUsedDataDir(async (dataDir) => {
      const server = await startServer(dataDir, { WAYBILL_WEB: web });
      const started = { url: server.url, key: initialAdminKey(dataDir), dataDir };
      await fillDemo({ ...started, org: "harborlight", seed: "web" });
      await new Promise<void>((stop) => {
        const end = async (): Promise<void> => {
          stop();
          await ended;
        };
        resolve({ site: started, end });
      });
      await server.stop();
    });
    ended.catch(reject);
  });
}

/**
 * Makes an address that tells the processes of a run where its site is. It is started when somebody asks for the first time, and is there
 * once for all of them.
 * @returns the address, and what ends the site.
 */
export async function offerSite(): Promise<{ address: string; end: () => Promise<void> }> {
  let started: ReturnType<typeof startSite> | undefined;
  const offer = createServer((_request, response) => {
    started ??= startSite();
    started.then(
      ({ site }) => response.end(JSON.stringify(site)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  offer.listen(0, "127.0.0.1");
  await once(offer, "listening");
  const { port } = offer.address() as AddressInfo;
  return {
    address: `http://127.0.0.1:${port}/`,
    end: async () => {
      offer.close();
      await (await started?.catch(() => undefined))?.end();
    },
  };
}
