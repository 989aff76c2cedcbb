import { execFileSync } from "node:child_process";
import { join } from "node:path";

import { sourceDate } from "./stage.mjs";

/** Packs a folder under the name `waybill`, equal for equal content. @returns the file. */
export function packEqually(folder, file) {
  const equal = ["--sort=name", `--mtime=@${sourceDate()}`, "--owner=0", "--group=0", "--numeric-owner"];
  const named = ["--format=gnu", "--mode=u+rwX,go+rX-w", "--transform=s,^\\.,waybill,"];
  execFileSync("sh", ["-c", 'tar -cf - "$@" . | gzip -n -6 > "$OUTPUT"', "tar", ...equal, ...named], {
    cwd: folder,
    env: { ...process.env, OUTPUT: file },
    stdio: ["ignore", "inherit", "inherit"],
  });
  return file;
}

/** Packs what runs, with its Node.js. @returns the file. */
export function makeTarball(staged, output, { version, platform }) {
  return packEqually(staged, join(output, `waybill-${version}-${platform}.tar.gz`));
}
