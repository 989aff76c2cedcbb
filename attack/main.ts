// `npm run attack`: does what must not stop the server, while somebody else asks it small things.
import { Command, Option } from "commander";

import { type Server, stopAll } from "../bench/processes.ts";
import type { Target } from "./client.ts";
import type { Outcome } from "./judge.ts";
import { circumstances, lineOf, type Report, restText, shapesTable } from "./report.ts";
import { calibrate, runShapes } from "./run.ts";
import { fullScale, shortScale } from "./scale.ts";
import type { Shape } from "./scene.ts";
import { shapes } from "./shapes/index.ts";
import { settle, startOwn, withDataDir } from "./target.ts";
import { withProbe } from "./watch.ts";

interface Options {
  url?: string;
  key?: string;
  only?: string[];
  short: boolean;
  source: boolean;
  json: boolean;
}

function say(options: Options, text: string): void {
  if (!options.json) console.log(text);
}

function chosen({ only, short }: Options): Shape[] {
  if (only !== undefined) return shapes.filter(({ name }) => only.includes(name));
  return shapes.filter(({ long = false }) => !(short && long));
}

async function attackShapes(target: Target, server: Server | undefined, options: Options): Promise<Report> {
  const scale = options.short ? shortScale : fullScale;
  return withProbe(target, async (probe) => {
    const rest = await calibrate(probe);
    say(options, restText(rest));
    const attack = { target, server, scale, short: options.short };
    const tell = (outcome: Outcome): void => say(options, lineOf(outcome));
    return { rest, outcomes: await runShapes(attack, chosen(options), probe, tell) };
  });
}

/** Attacks the server that was named, or one of our own. */
async function attackOne(options: Options): Promise<Report> {
  const { url, key } = options;
  if (url !== undefined) return attackShapes(await settle(url, key ?? ""), undefined, options);
  return withDataDir(async (dataDir) => {
    const server = await startOwn(dataDir, { source: options.source });
    try {
      return await attackShapes(await settle(server.url, server.key), server, options);
    } finally {
      await server.stop();
    }
  });
}

async function main(options: Options): Promise<void> {
  if (options.url !== undefined && options.key === undefined)
    throw new Error("--url needs --key, the key of an instance administrator");
  const report = await attackOne(options);
  if (options.json) console.log(JSON.stringify({ circumstances: circumstances(), ...report }));
  else console.log(`\n${circumstances()}\n${restText(report.rest!)}\n\n${shapesTable(report.outcomes)}`);
  if (report.outcomes.some(({ broken }) => broken.length > 0)) process.exitCode = 1;
}

for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, () => void stopAll().finally(() => process.exit(1)));

const command = new Command("attack")
  .description("do what must not stop the server, while somebody else asks it small things")
  .option("--url <url>", "a running server; without it one is started, with a database of its own")
  .option("--key <key>", "key of an instance administrator of that server")
  .addOption(new Option("--only <shapes...>", "what to do").choices(shapes.map(({ name }) => name)))
  .option("--short", "smaller and in a minute, as the tests do it", false)
  .option("--source", "run the server from its source, without a build", false)
  .option("--json", "print the outcome as JSON", false)
  .action((options: Options) => main(options));

try {
  await command.parseAsync();
} finally {
  await stopAll();
}
