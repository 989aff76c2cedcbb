import { type Logger as PinoLogger, pino } from "pino";

/** The structured logger every layer takes as an argument. */
export type Logger = Pick<PinoLogger, "debug" | "info" | "warn" | "error" | "fatal" | "trace">;

/** Fields of an error that are logged besides message and stack. Others may hold rows, values, or whole connections. */
const safeFields = [
  "code",
  "syscall",
  "severity",
  "schema",
  "table",
  "column",
  "constraint",
  "routine",
] as const;

const deepestCause = 5;

/**
 * Makes an error safe to log. Errors of the database carry the refused row and the statement's parameters; others carry
 * the object they happened to.
 */
function loggableError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return error;
  const fields = error as unknown as Record<string, unknown>;
  return {
    type: error.constructor.name,
    message: error.message,
    stack: error.stack,
    ...Object.fromEntries(
      safeFields.flatMap((name) => (typeof fields[name] === "string" ? [[name, fields[name]]] : [])),
    ),
    ...(error.cause === undefined || depth >= deepestCause
      ? {}
      : { cause: loggableError(error.cause, depth + 1) }),
  };
}

/** Creates the program's log: JSON lines, errors without the data they happened to. */
export function createLogger(
  level: PinoLogger["level"],
  destination?: { write(line: string): void },
): PinoLogger {
  const options = { level, serializers: { err: loggableError } };
  return destination === undefined ? pino(options) : pino(options, destination);
}

/** Makes a log whose lines have these fields, too; the same one where it writes none. */
export function withFields(log: Logger, fields: Record<string, string>): Logger {
  return "child" in log ? (log as PinoLogger).child(fields) : log;
}

/** Gives the lines that a log writes from now on these fields, too. For a log that nobody else writes to: a child of it costs more than the line. */
export function addFields(log: Logger, fields: Record<string, string>): void {
  if ("setBindings" in log) (log as PinoLogger).setBindings(fields);
}

/** A log that discards everything, for tests and commands that print for themselves. */
export const silentLog: Logger = {
  trace: () => {},
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  fatal: () => {},
};
