import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline/promises";
import { Readable } from "node:stream";
import { createGzip } from "node:zlib";

import { Command } from "commander";

import { type Config, configOf, ConfigError, lookAtVariables } from "../config.ts";
import { showSettings } from "../config-shown.ts";
import type { Database } from "../db/connect.ts";
import { bytesInWords } from "../domain/health.ts";
import { scrubSentence } from "../domain/support/log-lines.ts";
import { knownTexts, scrub, type KnownText } from "../domain/support/scrub.ts";
import { answerWithin } from "../lib/answer-within.ts";
import { tarArchive, type TarEntry } from "../lib/tar.ts";
import { openFileSink } from "../modules/maintenance/backups/file-sink.ts";
import { withAnyDatabase } from "./command-deps.ts";
import { initialKeyFile } from "./first-start.ts";
import { CliError, print, UsageError } from "./output.ts";
import { livingParts, logParts, type SupportPart, type SupportSources } from "./support-parts.ts";

interface Flags {
  to?: string;
  log: string[];
  yes?: boolean;
}

/** A file of the bundle, or why there is none. */
interface MadePart {
  file: string;
  text: string | undefined;
  problem: string | undefined;
}

const reasonOf = (error: unknown): string =>
  error instanceof Error ? error.message || error.name : String(error);

/** Makes one part within its time. What keeps it from being made is a line, not the end. */
async function makePart({ file, ms, make }: SupportPart, known: readonly KnownText[]): Promise<MadePart> {
  try {
    const text = await answerWithin(ms, make(), () => {
      throw new Error(`not done within ${ms / 1000} s`);
    });
    return { file, text, problem: undefined };
  } catch (error) {
    return { file, text: undefined, problem: scrubSentence(reasonOf(error), known) };
  }
}

async function makeAll(parts: readonly SupportPart[], known: readonly KnownText[]): Promise<MadePart[]> {
  const made: MadePart[] = [];
  for (const part of parts) made.push(await makePart(part, known));
  return made;
}

/** Reads a file that is a secret as a whole; empty where there is none. */
async function secretIn(path: string): Promise<string> {
  return readFile(path, "utf8").catch(() => "");
}

/** What the settings say, as far as they can be used. */
interface Settings {
  config: Config | undefined;
  known: KnownText[];
  /** What may be shown of them, as a file of the bundle. */
  part: MadePart;
}

function readSettings(): {
  config: Config | undefined;
  shown: ReturnType<typeof showSettings>;
  mistakes: readonly string[];
} {
  const { variables, mistakes } = lookAtVariables();
  const shown = showSettings(variables);
  if (mistakes.length > 0) return { config: undefined, shown, mistakes };
  try {
    return { config: configOf(variables), shown, mistakes };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { config: undefined, shown, mistakes: error.mistakes };
  }
}

async function lookAtSettings(): Promise<Settings> {
  const { config, shown, mistakes } = readSettings();
  const { hidden, ...open } = shown;
  const files =
    config === undefined
      ? {}
      : {
          "secret-key": await secretIn(join(config.dataDir, "secret-key")),
          "initial-admin-key": await secretIn(initialKeyFile(config.dataDir)),
        };
  const known = knownTexts({ ...hidden, ...files });
  const facts = config && {
    database: config.databaseUrl === undefined ? "managed" : "external",
    evidence: config.evidence.s3 === undefined ? "folder" : "bucket",
    tls: config.tls !== undefined,
    log_level: config.logLevel,
  };
  const text = JSON.stringify(
    {
      comment: "Values of harmless settings; of all others that are set only the names.",
      ...open,
      mistakes: mistakes.map((mistake) => scrub(mistake, known)),
      in_use: facts,
    },
    undefined,
    2,
  );
  return { config, known, part: { file: "configuration.json", text: `${text}\n`, problem: undefined } };
}

/** How long the database is waited for: that of a stopped server is started for as long as the bundle is made. */
const openingMs = 130_000;

/** Makes the parts that need a database while one is open; without one they say why. */
async function makeLiving(sources: Omit<SupportSources, "db">): Promise<MadePart[]> {
  const { config, known } = sources;
  const make = (db: () => Database): Promise<MadePart[]> => makeAll(livingParts({ ...sources, db }), known);
  const without = (problem: string): Promise<MadePart[]> =>
    make(() => {
      throw new Error(problem);
    });
  if (config === undefined) return without("the settings have mistakes");
  let made: Promise<MadePart[]> | undefined;
  const opened = withAnyDatabase(config, (db) => (made = make(() => db)));
  const problem = await answerWithin(
    openingMs,
    opened.then(() => undefined, reasonOf),
    () => `no answer within ${openingMs / 1000} s`,
  );
  // Parts that were begun with a database that then went away are as good as they got.
  return made ?? without(problem ?? "");
}

/** What the bundle says of itself, in its first file. */
function contents(made: readonly MadePart[]): string {
  const lines = made.map(({ file, text, problem }) =>
    text === undefined ? `${file}: not there: ${problem}` : `${file}: ${Buffer.byteLength(text)} bytes`,
  );
  return [
    "Support bundle of Waybill, made by `waybill support-bundle`.",
    "No rows of the database, no values of settings that may be secret, no names of organizations.",
    "What was taken out of logs is marked [removed], or [NAME] for the value of a setting. Look before you pass it on.",
    "",
    ...lines,
    "",
  ].join("\n");
}

/** Says what was made, a line for each file. */
function show(made: readonly MadePart[]): void {
  for (const { file, text, problem } of made)
    if (text === undefined) print.line(`  ${file.padEnd(26)}  not there: ${problem}`);
    else print.line(`  ${file.padEnd(26)}  ${bytesInWords(Buffer.byteLength(text))}`);
}

/** Asks whoever sits at the terminal; anything but yes is no. */
export async function confirmed(
  question: string,
  input: NodeJS.ReadableStream,
  output: NodeJS.WritableStream,
): Promise<boolean> {
  const terminal = createInterface({ input, output });
  const ended = new Promise<string>((done) => terminal.once("close", () => done("")));
  try {
    return /^\s*y(?:es)?\s*$/i.test(await Promise.race([terminal.question(question), ended]));
  } finally {
    terminal.close();
  }
}

async function* entriesOf(name: string, made: readonly MadePart[]): AsyncGenerator<TarEntry> {
  const modified_at = Math.floor(Date.now() / 1000);
  for (const { file, text } of [{ file: "contents.txt", text: contents(made) }, ...made]) {
    if (text === undefined) continue;
    const content = Buffer.from(text);
    yield { path: `${name}/${file}`, size: content.length, modified_at, content };
  }
}

/** Writes the bundle, which has its name only when it is complete. */
async function write(path: string, name: string, made: readonly MadePart[]): Promise<void> {
  const sink = await openFileSink(path);
  try {
    for await (const piece of Readable.from(tarArchive(entriesOf(name, made))).pipe(createGzip()))
      await sink.write(piece as Buffer);
    await sink.finish();
  } catch (error) {
    await sink.abandon();
    throw error;
  }
}

async function supportBundle({ to, log, yes }: Flags): Promise<void> {
  const name = `waybill-support-${new Date().toISOString().slice(0, 19).replaceAll(/[-:]/g, "")}`;
  const path = to ?? `${name}.tar.gz`;
  if (existsSync(path)) throw new UsageError(`${path} is there already: name another file`);
  const isAsked = yes !== true;
  if (isAsked && !(process.stdin.isTTY && process.stdout.isTTY))
    throw new UsageError("Nobody can be asked here whether to write the bundle: say --yes");
  const { config, known, part } = await lookAtSettings();
  const sources = { config, known };
  const logs = await makeAll(logParts({ ...sources, db: noDatabase }, log), known);
  const made = [part, ...logs, ...(await makeLiving(sources))];
  print.line("The bundle has:");
  show(made);
  if (log.length === 0) print.line("  The server's own log is in it when you name the file with --log.");
  if (isAsked && !(await confirmed(`Write ${path}? [y/N] `, process.stdin, process.stdout)))
    throw new CliError("Nothing was written");
  await write(path, name, made);
  print.line(`Wrote ${path}, readable for you alone. Nothing was sent: look into it before you pass it on.`);
}

function noDatabase(): never {
  throw new Error("logs need no database");
}

/** Builds `waybill support-bundle`: what somebody who helps needs to know, in one file. */
export function supportBundleCommand(): Command {
  return new Command("support-bundle")
    .description(
      "write what somebody who helps needs into one file: findings of doctor, health, names of settings, logs, metrics, sizes of tables, plans; no secrets, and nothing is sent",
    )
    .option(
      "--to <file>",
      "the file to write, which must not exist (default: waybill-support-<time>.tar.gz here)",
    )
    .option(
      "--log <file>",
      "a file with the server's log, of which the last 10 MB are taken; may be given several times",
      (file: string, before: string[]) => [...before, file],
      [] as string[],
    )
    .option("--yes", "write without asking")
    .action(supportBundle);
}
