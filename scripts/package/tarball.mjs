import { execFileSync } from "node:child_process";
import { join } from "node:path";

import { sourceDate } from "./stage.mjs";

/**
 * Packs a folder, equal for equal content.
 * @param names what of it; all of it otherwise, under the name `waybill`.
 * @param isQuick whether time is worth more than room.
 * @returns the file.
 */
export function packEqually(folder, file, { names = ["."], isQuick = false } = {}) {
  const equal = ["--sort=name", `--mtime=@${sourceDate()}`, "--owner=0", "--group=0", "--numeric-owner"];
  const named = ["--format=gnu", "--mode=u+rwX,go+rX-w", "--transform=s,^\\.,waybill,"];
  const compress = `--use-compress-program=gzip -n ${isQuick ? "-1" : "-6"}`;
  const options = [compress, ...equal, ...named];
  execFileSync("tar", ["-cf", file, ...options, "--", ...names], {
    cwd: folder,
    stdio: ["ignore", "inherit", "inherit"],
  });
  return file;
}

/** Packs what runs, with its Node.js. @returns the file. */
export function makeTarball(staged, output, { version, platform, isQuick }) {
  return packEqually(staged, join(output, `waybill-${version}-${platform}.tar.gz`), { isQuick });
}
