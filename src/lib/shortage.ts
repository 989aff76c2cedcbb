const fullCodes = new Set(["ENOSPC", "EDQUOT"]);
const descriptorCodes = new Set(["EMFILE", "ENFILE"]);

const deepest = 5;

/** Whether an error has one of these codes, or one that caused it does. */
function hasCode(error: unknown, codes: ReadonlySet<string>, depth = 0): boolean {
  if (!(error instanceof Error) || depth > deepest) return false;
  const { code } = error as NodeJS.ErrnoException;
  if (code !== undefined && codes.has(code)) return true;
  const nested = error instanceof AggregateError ? (error.errors as unknown[]) : [];
  return [error.cause, ...nested].some((inner) => hasCode(inner, codes, depth + 1));
}

/** Whether a disk of this machine, to which files are written, has no more room. */
export function isDiskFull(error: unknown): boolean {
  return hasCode(error, fullCodes);
}

/** Whether this process, or this machine, may not open any more files and connections. */
export function isOutOfDescriptors(error: unknown): boolean {
  return hasCode(error, descriptorCodes);
}
