import cliProgress from "cli-progress";

import { megabyte } from "../lib/units.ts";
import { print } from "./output.ts";

/** Shows how far long work on bytes is. */
export interface ByteProgress {
  report(done: number, total: number): void;
  end(): void;
}

const megabytes = (bytes: number): number => Math.round(bytes / megabyte);

function showBar(title: string): ByteProgress {
  const bar = new cliProgress.SingleBar(
    {
      format: `${title} {bar} {percentage}% {value}/{total} MB {duration_formatted}`,
      hideCursor: true,
      barsize: 30,
    },
    cliProgress.Presets.shades_classic,
  );
  let begun = false;
  return {
    report: (done, total) => {
      if (!begun) bar.start(megabytes(total), 0);
      begun = true;
      bar.update(megabytes(done));
    },
    end: () => {
      if (begun) bar.stop();
    },
  };
}

const msBetweenLines = 10_000;

function showLines(title: string): ByteProgress {
  let said = performance.now();
  return {
    report: (done, total) => {
      if (performance.now() - said < msBetweenLines) return;
      said = performance.now();
      print.error(`${title}: ${megabytes(done)} of about ${megabytes(total)} MB`);
    },
    end: () => {},
  };
}

/** Begins to show progress on standard error: a bar on a terminal, a line every ten seconds anywhere else. */
export function showBytes(title: string, terminal = process.stderr.isTTY): ByteProgress {
  return terminal ? showBar(title) : showLines(title);
}
