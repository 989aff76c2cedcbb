import { once } from "node:events";
import { type IncomingMessage, request as plainRequest } from "node:http";
import { request } from "node:https";
import { text } from "node:stream/consumers";

import { Command } from "commander";

import { readConfig } from "../config.ts";
import { reachableHost } from "../lib/network.ts";
import { CliError, print } from "./output.ts";

const waitMs = 5_000;

/**
 * Asks this machine's own server, for five seconds at most. Its certificate is for another name, and nothing leaves this machine, so it is not
 * looked at.
 */
export async function askOwnServer(
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ status: number; text: string }> {
  const signal = AbortSignal.timeout(waitMs);
  const asked = url.startsWith("https:")
    ? request(url, { signal, headers, agent: false, rejectUnauthorized: false })
    : plainRequest(url, { signal, headers, agent: false });
  asked.end();
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  return { status: answer.statusCode ?? 0, text: await text(answer) };
}

/** Asks the server of these settings whether it can serve requests. @throws CliError with the reason when it cannot. */
async function health(): Promise<void> {
  const { host, port, tls } = readConfig();
  const url = `${tls === undefined ? "http" : "https"}://${reachableHost(host)}:${port}/ready`;
  const { status, text: said } = await askOwnServer(url).catch((error: Error) => {
    throw new CliError(`No server answers at ${url}: ${error.message}`);
  });
  if (status !== 200) throw new CliError((JSON.parse(said) as { message: string }).message);
  print.line("ready");
}

/** Builds `waybill health`: for what watches processes and containers. */
export function healthCommand(): Command {
  return new Command("health")
    .description("say whether the server of these settings can serve requests: 0 when it can, else 1")
    .action(health);
}
