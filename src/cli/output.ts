/** A failure that its message explains in full to the person at the terminal. */
export class CliError extends Error {
  /** What the process exits with. */
  readonly exitStatus: number = 1;
}

/** The command was given something it cannot work with. */
export class UsageError extends CliError {
  override readonly exitStatus = 2;
}

/** The command did its work, but somebody should look at what it found. */
export class WarningsError extends CliError {
  override readonly exitStatus = 3;
}

/** What commands say to people; logs go elsewhere. */
export const print = {
  line: (text = ""): void => void process.stdout.write(`${text}\n`),
  error: (text: string): void => void process.stderr.write(`${text}\n`),
};

/** Has commands end as they would have when nobody reads what they print any more, as with `| head`. @throws other failures of the output. */
export function outliveReaders(streams: readonly NodeJS.WritableStream[]): void {
  for (const stream of streams)
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error;
    });
}
