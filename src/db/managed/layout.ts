import { chmod, mkdir, realpath, stat, access, constants } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { explained } from "./errors.ts";

/** Where everything of one managed PostgreSQL is. All paths are absolute, with symbolic links resolved. */
export interface Layout {
  /** Waybill's data directory. */
  readonly dataDir: string;
  /** The cluster (PGDATA), ours alone. */
  readonly cluster: string;
  /** What PostgreSQL prints. */
  readonly logFile: string;
}

/** Gives the layout inside an existing data directory. */
export async function layoutOf(dataDir: string): Promise<Layout> {
  const real = await realpath(dataDir);
  return { dataDir: real, cluster: join(real, "postgres"), logFile: join(real, "postgres.log") };
}

/**
 * Creates the data directory when it is missing and proves that it can be written.
 * @param traversable PostgreSQL will run as another user: let that user pass through (never list) it.
 */
export async function prepareDataDir(dataDir: string, traversable: boolean): Promise<Layout> {
  const mode = traversable ? 0o711 : 0o700;
  const path = resolve(dataDir);
  return explained(`use ${path} as data directory`, async () => {
    const firstCreated = await mkdir(path, { recursive: true, mode });
    // The umask may have taken bits away from every directory just made.
    if (firstCreated !== undefined) await chmodUpTo(path, firstCreated, mode);
    else if (traversable) await addExecuteBits(path);
    await access(path, constants.W_OK | constants.X_OK);
    return layoutOf(path);
  });
}

async function chmodUpTo(path: string, top: string, mode: number): Promise<void> {
  await chmod(path, mode);
  const parent = dirname(path);
  if (path !== top && parent !== path) await chmodUpTo(parent, top, mode);
}

async function addExecuteBits(path: string): Promise<void> {
  const mode = (await stat(path)).mode & 0o7777;
  if ((mode & 0o011) !== 0o011) await chmod(path, mode | 0o011);
}
