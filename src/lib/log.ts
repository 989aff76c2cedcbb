import type { Logger as PinoLogger } from "pino";

/** The structured logger every layer takes as an argument. */
export type Logger = Pick<PinoLogger, "debug" | "info" | "warn" | "error" | "fatal" | "trace">;

/** Discards everything; for tests and one-shot commands that print for themselves. */
export const silentLog: Logger = {
  trace: () => {},
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  fatal: () => {},
};
