// `npm run bench -- backup`: how fast a database is backed up and restored, and what those who report meanwhile notice of it.
import { once } from "node:events";
import { chmod, cp, mkdir, mkdtemp, rm } from "node:fs/promises";
import { setPriority, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";

import { Command, Option } from "commander";

import { niceness } from "../src/jobs/run-command.ts";
import { cpuOfNode, cpuOfPostgres, startNode, startServer } from "./processes.ts";
import { asText } from "./report.ts";
import { prepareMultiple, whole } from "./scale/command.ts";
import { percentile, sendAtRate } from "./scale/ingest.ts";
import { atLeast, below, median, rounded, type Verdict } from "./scenario.ts";

interface Options {
  builds: number;
  seed: number;
  data: string;
  rounds: number;
  rate: number;
  seconds: number;
  byClock: boolean;
}

/** What `waybill backup --json` and `waybill restore --json` say. */
interface Told {
  file: string;
  bytes: number;
  table_bytes: number;
  seconds: number;
}

/** A command that was run, with the processor time that it and PostgreSQL took, in seconds. */
interface Ran extends Told {
  node: number;
  postgres: number;
}

const megabyte = 1_000_000;

/** Runs the built command line. @throws Error unless it does what it was asked for; a key that is missing is not looked at. */
async function waybill(
  args: string[],
  dataDir: string,
  env: Record<string, string>,
  niceness = 0,
): Promise<Ran> {
  const before = [await cpuOfNode(process.pid), await cpuOfPostgres(dataDir)] as const;
  const child = startNode({ args: ["dist/main.js", ...args, "--json"], env });
  if (child.pid !== undefined) setPriority(child.pid, niceness);
  if (child.stdout === null) throw new Error("The command has no output");
  // Before its end, which may be seen earlier than what it printed.
  const ended = once(child, "exit");
  const printed = await text(child.stdout);
  const [status] = (await ended) as [number | null];
  if (status !== 0 && status !== 3) throw new Error(`waybill ${args[0]} ended with ${status}`);
  const told = JSON.parse(printed) as Told;
  // Our own share is that of waiting. A PostgreSQL that the command itself has run counts with the command.
  const node = (await cpuOfNode(process.pid)).node - before[0].node;
  return { ...told, node, postgres: (await cpuOfPostgres(dataDir)) - before[1] };
}

const rateOf = ({ table_bytes, seconds }: Pick<Ran, "table_bytes" | "seconds">): number =>
  table_bytes / megabyte / seconds;

/** Makes backups one after the other, as somebody by hand or as the server by the clock. */
async function makeBackups(
  dataDir: string,
  folder: string,
  { count, byClock }: { count: number; byClock: boolean },
): Promise<Ran[]> {
  const made: Ran[] = [];
  for (let number = 0; number < count; number += 1) {
    const args = ["backup", "--to", `${folder}/`, ...(byClock ? ["--scheduled"] : [])];
    made.push(await waybill(args, dataDir, { WAYBILL_DATA_DIR: dataDir }, byClock ? niceness : 0));
    if (number < count - 1) await rm(made.at(-1)?.file ?? "", { force: true });
  }
  return made;
}

/** What those who report notice. */
interface Noticed {
  rate: number;
  p50: number;
  p99: number;
  failed: number;
}

/** Reports for some seconds, or until it is stopped. */
async function report(
  setting: { url: string; key: string },
  wanted: { rate: number; seconds: number; stop?: AbortSignal },
): Promise<Noticed> {
  const { times, failed } = await sendAtRate(setting, wanted);
  // The first seconds compile, and the last one was cut off.
  const seconds = times.filter((second) => second.length > 0).slice(2, -1);
  const all = seconds.flat();
  return {
    rate: all.length / seconds.length,
    p50: percentile(all, 0.5),
    p99: percentile(all, 0.99),
    failed,
  };
}

const line = (what: string, { rate, p50, p99, failed }: Noticed): string =>
  `${what}: ${rate.toFixed(0)} reports/s, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, ${failed} failed`;

async function measureWriters(
  server: { url: string; key: string; dataDir: string },
  folder: string,
  { rate, seconds, rounds, byClock }: Options,
): Promise<{ verdicts: Verdict[]; remarks: string[] }> {
  const mostSeconds = 600;
  await report(server, { rate, seconds: 5 });
  const ratios: number[] = [];
  const remarks: string[] = [];
  // In turns, so that whatever else the machine does meets both.
  for (let round = 1; round <= rounds; round += 1) {
    const alone = await report(server, { rate, seconds });
    const stopping = new AbortController();
    const reporting = report(server, { rate, seconds: mostSeconds, stop: stopping.signal });
    const [made] = await makeBackups(server.dataDir, folder, { count: 1, byClock }).finally(() =>
      stopping.abort(),
    );
    const during = await reporting;
    await rm(made?.file ?? "", { force: true });
    ratios.push(during.p99 / alone.p99);
    remarks.push(
      line(`Round ${round}, reports alone`, alone),
      line(`Round ${round}, while a backup is made in ${made?.seconds.toFixed(1)} s`, during),
    );
  }
  return {
    verdicts: [below("p99 of reports while backups are made, against none", median(ratios), 1.5, " times")],
    remarks,
  };
}

function describe(what: string, { table_bytes, bytes, seconds, node, postgres }: Ran): string {
  const size = `${rounded(table_bytes / megabyte)} MB of rows`;
  const packed = bytes === undefined ? "" : `, ${rounded(bytes / megabyte)} MB of file`;
  const share = postgres === 0 ? "" : ` of Node and ${postgres.toFixed(1)} s of PostgreSQL`;
  return `${what}: ${size}${packed}, ${seconds.toFixed(1)} s, processor time ${node.toFixed(1)} s${share}`;
}

async function bench(options: Options): Promise<void> {
  const made = await prepareMultiple({ ...options, data: resolve(options.data) });
  const folder = await mkdtemp(join(tmpdir(), "waybill-bench-backup-"));
  try {
    // PostgreSQL may run as another user.
    await chmod(folder, 0o755);
    const dataDir = join(folder, "data");
    // Reports are added to it.
    await cp(made, dataDir, { recursive: true });
    const backups = join(folder, "backups");
    await mkdir(backups);
    const server = await startServer(dataDir);
    try {
      console.log("Making backups");
      const alone = await makeBackups(dataDir, backups, { count: options.rounds, byClock: false });
      const last = alone.at(-1);
      if (last === undefined) throw new Error("There is no backup");
      const speed = median(alone.map(rateOf));
      // Node and PostgreSQL work side by side: the one that has more to do is what a core is the limit of.
      const each = median(alone.map((one) => one.table_bytes / megabyte / (one.node + one.postgres)));
      console.log("Restoring");
      const into = join(folder, "restored");
      const restored = await waybill(["restore", last.file, "--into", into], into, {
        WAYBILL_SECRET_KEY_FILE: join(dataDir, "secret-key"),
      });
      console.log("Reporting");
      const writers =
        options.rate === 0 ? { verdicts: [], remarks: [] } : await measureWriters(server, backups, options);
      const verdicts = [
        atLeast("portable backup, nobody else there", speed, 60, " MB/s"),
        atLeast("portable backup, for a second of a core, Node and PostgreSQL together", each, 60, " MB"),
        atLeast("restore with all checks", rateOf(restored), 25, " MB/s"),
        ...writers.verdicts,
      ];
      const remarks = [...alone.map((one) => describe("Backup", one)), describe("Restore", restored)];
      const empty = { figures: [], pages: [], secondsEach: options.seconds, rounds: options.rounds };
      console.log(`\n${asText({ ...empty, verdicts, remarks: [...remarks, ...writers.remarks] })}`);
    } finally {
      await server.stop();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Makes the command that measures backups and restores. */
export function backupCommand(): Command {
  return new Command("backup")
    .description("back up and restore a multiple of a company's reports, also while others report")
    .addOption(
      new Option("--builds <n>", "how many the database has")
        .argParser(whole(1_000, 100_000_000))
        .default(100_000),
    )
    .addOption(
      new Option("--seed <n>", "how many of them to report, of which the multiple is made")
        .argParser(whole(20, 10_000))
        .default(1_000),
    )
    .option("--data <folder>", "where that is kept between runs", join(tmpdir(), "waybill-bench", "scale"))
    .addOption(
      new Option("--rounds <n>", "how many backups, alone and while others report")
        .argParser(whole(1, 100))
        .default(3),
    )
    .addOption(
      new Option("--rate <n>", "reports a second while backups are made; 0 leaves that out")
        .argParser(whole(0, 10_000))
        .default(1_000),
    )
    .addOption(
      new Option("--seconds <n>", "how long to report before each").argParser(whole(5, 600)).default(20),
    )
    .option("--by-clock", "make those while others report as the server does by the clock", false)
    .action((options: Options) => bench(options));
}
