import pg from "pg";

/** PostgreSQL's error codes that the program expects (PostgreSQL appendix A). */
export const sqlState = {
  uniqueViolation: "23505",
  foreignKeyViolation: "23503",
  restrictViolation: "23001",
  serializationFailure: "40001",
  deadlockDetected: "40P01",
  lockNotAvailable: "55P03",
  inFailedTransaction: "25P02",
  diskFull: "53100",
  readOnlyTransaction: "25006",
} as const;

/** Gives the SQLSTATE of a failed statement, or undefined for any other error. */
export function sqlStateOf(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined;
}

/** Says whether the database takes no writes: a standby, or set so. */
export function isReadOnly(error: unknown): boolean {
  return sqlStateOf(error) === sqlState.readOnlyTransaction;
}

/** Says whether the disk of the database was full, also where another error tells of that one. */
export function isDatabaseFull(error: unknown): boolean {
  if (sqlStateOf(error) === sqlState.diskFull) return true;
  return error instanceof Error && error.cause !== undefined && isDatabaseFull(error.cause);
}

/** What Citus appends to names of what belongs to a shard. */
const shardNumber = /_\d+$/;

/** The name that a message about a constraint ends with: Citus passes on nothing but the message. */
const namedInMessage = /"([^"]+)"$/;

/** Says whether the statement broke this unique index or foreign key, of the table or of a shard of it. */
export function violates(error: unknown, constraint: string): boolean {
  if (!(error instanceof pg.DatabaseError) || error.code?.startsWith("23") !== true) return false;
  const broken = error.constraint ?? namedInMessage.exec(error.message)?.[1]?.replace(shardNumber, "");
  return broken === constraint;
}

/**
 * Away or overloaded: connection failures, no resources left, cancelled (by a time limit, too), shutting down or
 * starting, a standby, a transaction that was idle for too long.
 */
const unavailableStates = /^(?:08|53|57P|57014$|25006$|25P0[34]$)/;

const unreachable = new Set([
  "EMFILE",
  "ENFILE",
  "ECONNREFUSED",
  "ECONNRESET",
  "ECONNABORTED",
  "ENOENT",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "EHOSTDOWN",
  "ENETUNREACH",
  "ENETDOWN",
  "ENOTFOUND",
  "EAI_AGAIN",
]);

/** Says whether the database is away: not yet up, shutting down, restarting after a crash, or with no room for more. */
export function isConnectionFailure(error: unknown): boolean {
  const code = sqlStateOf(error);
  if (code !== undefined) return unavailableStates.test(code);
  if (!(error instanceof Error)) return false;
  const systemCode = (error as NodeJS.ErrnoException).code;
  if (systemCode !== undefined && unreachable.has(systemCode)) return true;
  return /connection terminated|timeout exceeded when trying to connect|client has encountered a connection error/i.test(
    error.message,
  );
}
