/** What to do when this machine cannot run the managed database at all; closes several messages. */
export const externalDatabaseHint =
  "Set DATABASE_URL to an external PostgreSQL (version 15 or newer) to run without the managed one.";

/**
 * A reason why the managed PostgreSQL cannot run. The message is written for the operator: it names the
 * directory or process concerned and says what to do.
 */
export class ManagedPostgresError extends Error {
  override readonly name: string = "ManagedPostgresError";
}

/** The data directory belongs to another running server, or to a command: only of that it is known that it ends by itself. */
export class DataDirectoryInUseError extends ManagedPostgresError {
  override readonly name: string = "DataDirectoryInUseError";
  readonly byCommand: boolean;

  constructor(message: string, byCommand = false) {
    super(message);
    this.byCommand = byCommand;
  }
}

/** Gives the errno code of a system error (`"EACCES"`), or the SQLSTATE of a database error; `undefined` without. */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

/** Gives the message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const systemReasons: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "operation not permitted",
  EROFS: "the file system is read-only",
  ENOSPC: "no space left on the disk",
  EDQUOT: "the disk quota is used up",
  ENOTDIR: "a part of the path is not a directory",
  EEXIST: "something that is not a directory is in the way",
  EBUSY: "it is a mount point; mount the volume at its parent instead",
  EXDEV: "it is on another file system than its parent",
  EMFILE: "too many open files",
  ENFILE: "too many open files on this machine",
};

/** Turns a system error into an operator's message, `undefined` when the code says nothing by itself. */
export function systemReason(error: unknown): string | undefined {
  const code = codeOf(error);
  return code === undefined ? undefined : systemReasons[code];
}

/** Runs a file operation; a system error becomes `"Cannot <what>: <reason>"`. */
export async function explained<T>(what: string, operation: () => Promise<T>): Promise<T> {
  try {
    return await operation();
  } catch (error) {
    const reason = error instanceof ManagedPostgresError ? undefined : systemReason(error);
    if (reason === undefined) throw error;
    throw new ManagedPostgresError(`Cannot ${what}: ${reason}.`, { cause: error });
  }
}
