// `npm run attack`: does what must not stop the server, while somebody else asks it small things.
import { Command, InvalidArgumentError, Option } from "commander";

import { type Server, stopAll } from "../bench/processes.ts";
import type { Target } from "./client.ts";
import { endure, type Endured, type Hardship, hardships } from "./durability/index.ts";
import { type Outcome, promises, roomyPromises } from "./judge.ts";
import type { Seen } from "./probe.ts";
import { asMarkdown, enduredLine, isKept, lineOf, type Report, restText } from "./report.ts";
import { calibrate, runShapes } from "./run.ts";
import { fullScale, shortScale } from "./scale.ts";
import type { Shape } from "./scene.ts";
import { shapes } from "./shapes/index.ts";
import { createOrganizations, startWatched, withDataDir } from "./target.ts";
import { withProbe } from "./watch.ts";

const parts = ["load", "durability"] as const;
const names = [...shapes, ...hardships].map(({ name }) => name);

interface Options {
  part: (typeof parts)[number][];
  url?: string;
  key?: string;
  only?: string[];
  short: boolean;
  roomy: boolean;
  cycles: number;
  program: string;
  json: boolean;
}

function say({ json }: Options, text: string): void {
  if (!json) console.log(text);
}

function chosenShapes({ only, part, short, url }: Options): Shape[] {
  const possible = shapes.filter(({ settings }) => url === undefined || settings === undefined);
  if (only !== undefined) return possible.filter(({ name }) => only.includes(name));
  return part.includes("load") ? possible.filter(({ long = false }) => !(short && long)) : [];
}

/** Lists the first shapes that one server can be told of. */
function firstOfOneKind(some: readonly Shape[]): Shape[] {
  const settings = some[0]?.settings;
  const other = some.findIndex((shape) => shape.settings !== settings);
  return some.slice(0, other < 0 ? some.length : other);
}

function chosenHardships({ only, part, url }: Options): Hardship[] {
  // Somebody else's server is not killed.
  if (url !== undefined) return [];
  if (only !== undefined) return hardships.filter(({ name }) => only.includes(name));
  return part.includes("durability") ? hardships : [];
}

/** Results of the shapes that ran against one server. */
interface Attacked {
  rest: Seen;
  outcomes: Outcome[];
}

function attack(
  target: Target,
  server: Server | undefined,
  some: readonly Shape[],
  options: Options,
): Promise<Attacked> {
  const { short } = options;
  return withProbe(target, server, async (probe) => {
    const scale = short ? shortScale : fullScale;
    const rest = await calibrate(probe, scale);
    say(options, restText(rest));
    const tell = (outcome: Outcome): void => say(options, lineOf(outcome));
    const promised = options.roomy ? roomyPromises : promises;
    const what = { target, server, short, scale, promised };
    return { rest, outcomes: await runShapes(what, some, probe, tell) };
  });
}

/** Starts a server of our own and attacks it; starts another one when it dies, and for shapes that need other settings. */
async function attackOwn(options: Options): Promise<Attacked> {
  const all = chosenShapes(options);
  let rest: Seen | undefined;
  const outcomes: Outcome[] = [];
  while (outcomes.length < all.length)
    await withDataDir(async (dataDir) => {
      const some = firstOfOneKind(all.slice(outcomes.length));
      const { program } = options;
      const server = await startWatched(dataDir, { program, env: some[0]?.settings ?? {} });
      try {
        const target = await createOrganizations(server.url, server.key);
        const attacked = await attack(target, server, some, options);
        rest ??= attacked.rest;
        outcomes.push(...attacked.outcomes);
      } finally {
        await server.stop();
      }
    });
  return { rest: rest!, outcomes };
}

async function load(options: Options): Promise<Pick<Report, "rest" | "outcomes">> {
  const all = chosenShapes(options);
  if (all.length === 0) return { rest: undefined, outcomes: [] };
  if (options.url === undefined) return attackOwn(options);
  return attack(await createOrganizations(options.url, options.key ?? ""), undefined, all, options);
}

async function endureAll(options: Options): Promise<Endured[]> {
  const endured: Endured[] = [];
  for (const hardship of chosenHardships(options)) {
    const one = await endure(hardship, options);
    say(options, enduredLine(one));
    endured.push(one);
  }
  return endured;
}

async function main(options: Options): Promise<void> {
  if (options.url !== undefined && options.key === undefined)
    throw new InvalidArgumentError("--url needs --key, the key of an instance administrator");
  const report: Report = { ...(await load(options)), endured: await endureAll(options) };
  console.log(options.json ? JSON.stringify(report) : `\n${asMarkdown(report)}`);
  if (!isKept(report)) process.exitCode = 1;
}

function whole(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > 1000)
    throw new InvalidArgumentError("It is a whole number from 1 to 1000.");
  return value;
}

for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, () => void stopAll().finally(() => process.exit(1)));

const command = new Command("attack")
  .description("do what must not stop the server, while somebody else asks it small things")
  .addOption(new Option("--part <parts...>", "what to try").choices(parts).default(parts))
  .addOption(new Option("--only <names...>", "some of it").choices(names))
  .option("--url <url>", "attack a running server; without it one is started, with a database of its own")
  .option("--key <key>", "key of an instance administrator of that server")
  .option("--short", "smaller and in a minute, as the tests do it", false)
  .option("--roomy", "judge with room for a machine that does many other things", false)
  .addOption(new Option("--cycles <n>", "how often to kill what is killed").argParser(whole).default(10))
  .option("--program <file>", "the server's program", "dist/main.js")
  .addOption(
    new Option("--source", "run the server from its source, without a build").implies({
      program: "src/main.ts",
    }),
  )
  .option("--json", "print the outcome as JSON", false)
  .action((options: Options) => main(options));

try {
  await command.parseAsync();
} finally {
  await stopAll();
}
