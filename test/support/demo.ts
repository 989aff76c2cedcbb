import { once } from "node:events";

import { type Run, spawnWaybill } from "./server-process.ts";

interface Filled {
  url: string;
  /** An administrator's of the installation. */
  key: string;
  /** Of the server. */
  dataDir: string;
  /** The new organization. */
  org: string;
  /** What its names and numbers are made from: the same each time. */
  seed: string;
}

/** Fills a new organization of a server with the smallest demo. @param run the program that does it, if not that of the run. */
export async function fillDemo({ url, key, dataDir, org, seed }: Filled, run: Run = {}): Promise<void> {
  const args = ["demo", "--size", "small", "--url", url, "--org", org, "--seed", seed];
  const environment = { WAYBILL_DATA_DIR: dataDir, WAYBILL_PUBLIC_URL: url, WAYBILL_KEY: key };
  const child = spawnWaybill(args, environment, run);
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (chunk: string) => void (said += chunk));
  await once(child, "close");
  if (child.exitCode !== 0) throw new Error(`the demo failed: ${said}`);
}
