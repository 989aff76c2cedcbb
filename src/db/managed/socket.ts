import { createHash } from "node:crypto";
import { chmod, chown, lstat, mkdir } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { codeOf, explained, ManagedPostgresError } from "./errors.ts";
import type { Identity } from "./identity.ts";
import type { Layout } from "./layout.ts";

/** The port only names the socket file: PostgreSQL never listens on TCP. */
export const port = 5432;

const socketName = `.s.PGSQL.${port}`;

/** Bytes a socket address holds, without its terminator: 108 on Linux, 104 elsewhere. */
const pathLimit = process.platform === "linux" ? 107 : 103;

/** Names the socket file in a socket directory. */
export function socketPath(directory: string): string {
  return join(directory, socketName);
}

/**
 * Names the directory of the socket: inside the data directory, or when that path is too long for a socket address a short one
 * under the temporary directory, always the same for the same data directory.
 */
export function socketDirectoryOf(layout: Layout): string {
  const inside = join(layout.dataDir, "run");
  if (fits(inside)) return inside;
  const name = `waybill-${createHash("sha256").update(layout.dataDir).digest("hex").slice(0, 16)}`;
  const temporary = join(tmpdir(), name);
  return fits(temporary) ? temporary : join("/tmp", name);
}

function fits(directory: string): boolean {
  return Buffer.byteLength(socketPath(directory)) <= pathLimit;
}

/** Creates the socket directory, private to PostgreSQL's user, and refuses one that somebody else controls. */
export async function prepareSocketDirectory(layout: Layout, identity: Identity): Promise<string> {
  const directory = socketDirectoryOf(layout);
  await explained(`create the socket directory ${directory}`, async () => {
    await mkdir(directory, { mode: 0o700 }).catch((error: unknown) => {
      if (codeOf(error) !== "EEXIST") throw error;
    });
    const entry = await lstat(directory);
    const ours = entry.uid === identity.uid || entry.uid === process.getuid?.();
    if (!entry.isDirectory() || !ours)
      throw new ManagedPostgresError(
        `${directory} should be the private directory of the database socket, but it is not a directory or belongs to ` +
          "another user. Remove it and start again.",
      );

    if (identity.switched) await chown(directory, identity.uid, identity.gid);
    if ((entry.mode & 0o777) !== 0o700) await chmod(directory, 0o700);
  });
  return directory;
}

/** Says whether a process listens on the socket of this directory, not who it is. */
export async function somebodyListens(directory: string): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect(socketPath(directory));
    socket.once("connect", () => {
      socket.destroy();
      done(true);
    });
    socket.once("error", () => done(false));
  });
}
