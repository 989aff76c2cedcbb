const fullCodes = new Set(["ENOSPC", "EDQUOT"]);
const descriptorCodes = new Set(["EMFILE", "ENFILE"]);

const deepest = 5;

/** Says whether an error, or one that caused it, has one of these codes. */
function hasCode(error: unknown, codes: ReadonlySet<string>, depth = 0): boolean {
  if (!(error instanceof Error) || depth > deepest) return false;
  const { code } = error as NodeJS.ErrnoException;
  if (code !== undefined && codes.has(code)) return true;
  const nested = error instanceof AggregateError ? (error.errors as unknown[]) : [];
  return [error.cause, ...nested].some((inner) => hasCode(inner, codes, depth + 1));
}

/** Says whether an error means that a disk of this machine is full. */
export function isDiskFull(error: unknown): boolean {
  return hasCode(error, fullCodes);
}

/** Says whether an error means that this process, or this machine, can open no more files and connections. */
export function isOutOfDescriptors(error: unknown): boolean {
  return hasCode(error, descriptorCodes);
}
