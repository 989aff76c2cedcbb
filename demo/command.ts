import { readFileSync } from "node:fs";

import { Command, InvalidArgumentError, Option } from "commander";

import { type Config, readConfig } from "../src/config.ts";
import { systemClock } from "../src/lib/clock.ts";
import { initialKeyFile } from "../src/cli/first-start.ts";
import { CliError, print } from "../src/cli/output.ts";
import { createApi } from "./api.ts";
import { repos } from "./data/repos.ts";
import { type Amounts, type SizeName, sizeNames, sizes } from "./data/sizes.ts";
import { openBesideServer } from "./database.ts";
import { fill, type Filled } from "./fill.ts";
import { makePeople } from "./model/people.ts";
import { nextSteps } from "./next-steps.ts";
import type { Demo } from "./plan.ts";
import { createProgress } from "./progress.ts";
import { createOrganization } from "./steps/organization.ts";

interface DemoOptions {
  size: SizeName;
  org?: string;
  key?: string;
  url?: string;
  seed: string;
  environments?: number;
  builds?: number;
}

/** Finds the key to use: the one given, or the one that the server's first start left in its data directory. */
function keyOf(options: DemoOptions, config: Config): string {
  if (options.key !== undefined && options.key !== "") return options.key;
  try {
    return readFileSync(initialKeyFile(config.dataDir), "utf8").trim();
  } catch {
    throw new CliError(
      "The demo needs the key of an instance administrator: give --key, or set WAYBILL_KEY, or run this as the user of the server.",
    );
  }
}

function amountsOf(options: DemoOptions): Amounts {
  const size = sizes[options.size];
  const builds = options.builds ?? size.builds;
  return {
    ...size,
    builds,
    environments: options.environments ?? size.environments,
    recentBuilds: Math.min(size.recentBuilds, builds),
  };
}

/** Limits where there is only the API, which would take too long for more. */
const most = { environments: 2_000 };

/**
 * Reduces the amounts to what is possible without the server's database: no people, nothing before today.
 * @throws CliError for more environments than the API can make in a reasonable time.
 */
function amountsFromAfar(amounts: Amounts): Amounts {
  if (amounts.environments > most.environments)
    throw new CliError(
      "So many environments can only be made beside the server: run this on its machine, with its settings.",
    );
  print.line(
    "The server's database is not within reach: there will be no people, and nothing from before today.",
  );
  return { ...amounts, builds: amounts.recentBuilds, singleEnvironments: amounts.environments };
}

function tell(demo: Demo, filled: Filled): void {
  const { url } = demo.api;
  print.line();
  print.line(`Organization ${demo.org} is ready. Look at it:  ${url}/${demo.org}`);
  print.line(`What everybody may read, signed in or not:  ${url}/${filled.openOrg}`);
  print.line(`The API to read and try:  ${url}/api/v2/doc/`);
  print.line("Try next, in a shell:");
  for (const { title, command } of nextSteps({
    url,
    org: demo.org,
    ...filled,
    repo: repos[1]?.name ?? "",
    now: demo.now,
  })) {
    print.line();
    print.line(`# ${title}`);
    print.line(command);
  }
}

async function demo(options: DemoOptions): Promise<void> {
  const config = readConfig();
  const api = createApi((options.url ?? config.publicUrl).replace(/\/+$/, ""), keyOf(options, config));
  const amounts = amountsOf(options);
  const org = await createOrganization(api, options.org);
  print.line(`Filling organization ${org.name} on ${api.url}`);
  const beside = await openBesideServer(config, org);
  try {
    const plan: Demo = {
      api,
      org: org.name,
      seed: options.seed,
      amounts: beside === undefined ? amountsFromAfar(amounts) : amounts,
      people: makePeople(options.seed, amounts.people),
      progress: createProgress(process.stdout.isTTY),
      now: systemClock.now(),
      beside,
    };
    tell(plan, await fill(plan));
  } finally {
    await beside?.db.close();
  }
}

function count(least: number, greatest: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d{1,9}$/.test(text) && value >= least && value <= greatest) return value;
    throw new InvalidArgumentError(`It is a whole number from ${least} to ${greatest}.`);
  };
}

/**
 * Makes the command `waybill demo`, which fills a new organization of a running server with a year of a made-up
 * company.
 */
export function demoCommand(): Command {
  return new Command("demo")
    .description("fill a new organization of a running server with a made-up company's year")
    .addOption(
      new Option("--size <size>", "how much").choices(sizeNames).default("medium" satisfies SizeName),
    )
    .option(
      "--org <name>",
      "name of the new organization (default: the first free harborlight, harborlight-2, …)",
    )
    .addOption(
      new Option(
        "--key <key>",
        "key of an instance administrator (default: the one of the first start, from the data directory)",
      ).env("WAYBILL_KEY"),
    )
    .option("--url <url>", "the server's address (default: WAYBILL_PUBLIC_URL, http://localhost:8001)")
    .option(
      "--seed <text>",
      "what names and numbers are made from: the same seed makes the same ones",
      "harborlight",
    )
    .addOption(
      new Option("--environments <n>", "how many, instead of the size's number").argParser(
        count(20, 1_000_000),
      ),
    )
    .addOption(
      new Option("--builds <n>", "how many, instead of the size's number").argParser(count(20, 10_000_000)),
    )
    .action(demo);
}
