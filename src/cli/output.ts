/** A failure that its message explains in full to the person at the terminal. */
export class CliError extends Error {}

/** What commands say to people; logs go elsewhere. */
export const print = {
  line: (text = ""): void => void process.stdout.write(`${text}\n`),
  error: (text: string): void => void process.stderr.write(`${text}\n`),
};
