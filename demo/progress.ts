import cliProgress from "cli-progress";

import { print } from "../src/cli/output.ts";

/** A display of how far a long command is. */
export interface Progress {
  /** Runs a step of `total` pieces, which calls `advance` for each that is done. @returns what the step returns. */
  step<T>(title: string, total: number, work: (advance: (pieces?: number) => void) => Promise<T>): Promise<T>;
}

function seconds(since: number): string {
  return `${((performance.now() - since) / 1000).toFixed(1)} s`;
}

function withBar(): Progress {
  return {
    step: async (title, total, work) => {
      const bar = new cliProgress.SingleBar(
        {
          format: "{step} {bar} {percentage}% {value}/{total} {duration_formatted}",
          stream: process.stdout,
          hideCursor: true,
          barsize: 30,
        },
        cliProgress.Presets.shades_classic,
      );
      bar.start(total, 0, { step: title.padEnd(28) });
      try {
        return await work((pieces = 1) => bar.increment(pieces));
      } finally {
        bar.stop();
      }
    },
  };
}

/** Milliseconds between two lines about the same step. */
const silence = 5_000;

function withLines(): Progress {
  return {
    step: async (title, total, work) => {
      const begun = performance.now();
      let done = 0;
      let said = begun;
      const result = await work((pieces = 1) => {
        done += pieces;
        if (performance.now() - said < silence) return;
        said = performance.now();
        print.line(`${title}: ${done} of ${total}`);
      });
      print.line(`${title}: ${total} in ${seconds(begun)}`);
      return result;
    },
  };
}

/** Creates a display: a bar on a terminal, lines anywhere else. */
export function createProgress(terminal: boolean): Progress {
  return terminal ? withBar() : withLines();
}
