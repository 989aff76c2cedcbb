import { Command } from "commander";

import { readConfig } from "../config.ts";
import { reachableHost } from "../lib/network.ts";
import { CliError, print } from "./output.ts";

const waitMs = 5_000;

/** Asks the server of these settings whether it can serve requests. @throws CliError with the reason when it cannot. */
async function health(): Promise<void> {
  const { host, port } = readConfig();
  const url = `http://${reachableHost(host)}:${port}/ready`;
  const answer = await fetch(url, { signal: AbortSignal.timeout(waitMs) }).catch((error: Error) => {
    throw new CliError(
      `No server answers at ${url}: ${(error.cause as Error | undefined)?.message ?? error.message}`,
    );
  });
  const text = await answer.text();
  if (!answer.ok) throw new CliError((JSON.parse(text) as { message: string }).message);
  print.line("ready");
}

/** Builds `waybill health`: for what watches processes and containers. */
export function healthCommand(): Command {
  return new Command("health")
    .description("say whether the server of these settings can serve requests: 0 when it can, else 1")
    .action(health);
}
