import { setTimeout as sleep } from "node:timers/promises";

import { orgs } from "../data.ts";
import type { Setting } from "../measure.ts";
import { memoryOf } from "../processes.ts";
import { below, type Verdict } from "../scenario.ts";

const reads = [
  `/api/v2/environments/${orgs.large}?per_page=50`,
  `/api/v2/builds/${orgs.large}?per_page=50`,
  `/api/v2/organizations`,
];

/** Measures the memory of a server that has just started, answered a few requests and then been idle. */
export async function measureMemoryAtRest({ server, url, key }: Setting): Promise<Verdict[]> {
  for (const path of reads)
    for (let time = 0; time < 10; time += 1)
      await (await fetch(url + path, { headers: { authorization: `Bearer ${key}` } })).text();
  await sleep(5_000);
  const { node, postgres } = await memoryOf(server);
  return [
    below("memory at rest, Node (resident)", node, 150, " MB"),
    below("memory at rest, PostgreSQL (proportional share, all processes)", postgres, 150, " MB"),
  ];
}

/** Describes the memory after all scenarios: for information, there is no target. */
export async function describeMemoryAfterLoad({ server }: Pick<Setting, "server">): Promise<string> {
  const { node, postgres } = await memoryOf(server);
  const megabytes = (value: number | undefined): string =>
    value === undefined ? "unknown" : `${value.toFixed(0)} MB`;
  return `Memory right after the load: Node ${megabytes(node)}, PostgreSQL ${megabytes(postgres)}.`;
}
