import { execFileSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";

import { root, sourceDate } from "./stage.mjs";

const architectures = { "linux-x64": "amd64", "linux-arm64": "arm64" };

const part = (name) => join(root, "share", "debian", name);

function put(from, to, mode = 0o644) {
  mkdirSync(dirname(to), { recursive: true });
  cpSync(from, to);
  chmodSync(to, mode);
}

/** Adds up in KiB what a tree takes, as `dpkg-gencontrol` does. File systems differ in what they say of folders. */
function installedSize(tree) {
  const sizes = readdirSync(tree, { recursive: true, withFileTypes: true }).map((one) =>
    one.isFile() ? Math.ceil(statSync(join(one.parentPath, one.name)).size / 1024) : 1,
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

/**
 * Makes a package for Debian and what descends from it. The folder is used up.
 * @throws Error on a platform that Debian has no name for here.
 */
export function makeDeb(staged, output, { version, platform, isQuick }) {
  const architecture = architectures[platform];
  if (architecture === undefined) throw new Error(`There is no .deb for ${platform}`);
  const tree = `${staged}-deb`;
  mkdirSync(join(tree, "opt"), { recursive: true });
  renameSync(staged, join(tree, "opt", "waybill"));
  mkdirSync(join(tree, "usr", "bin"), { recursive: true });
  symlinkSync("../../opt/waybill/bin/waybill", join(tree, "usr", "bin", "waybill"));
  for (const unit of ["waybill.service", "waybill.socket"])
    put(join(root, "share", "systemd", unit), join(tree, "usr/lib/systemd/system", unit));
  put(part("sysusers.conf"), join(tree, "usr/lib/sysusers.d/waybill.conf"));
  put(part("waybill.env"), join(tree, "etc/waybill/waybill.env"), 0o640);

  const size = installedSize(tree);
  for (const script of ["postinst", "prerm", "postrm"])
    put(part(script), join(tree, "DEBIAN", script), 0o755);
  const control = readFileSync(part("control"), "utf8")
    .replace("@VERSION@", version)
    .replace("@ARCHITECTURE@", architecture)
    .replace("@SIZE@", String(size));
  writeFileSync(join(tree, "DEBIAN", "control"), control);
  writeFileSync(join(tree, "DEBIAN", "conffiles"), "/etc/waybill/waybill.env\n");
  // Whatever the umask of who builds is.
  execFileSync("chmod", ["-R", "u+rwX,go+rX,go-w", tree]);
  chmodSync(join(tree, "etc/waybill/waybill.env"), 0o640);

  const file = join(output, `waybill_${version}_${architecture}.deb`);
  execFileSync("dpkg-deb", ["--root-owner-group", "-Zzstd", isQuick ? "-z1" : "-z9", "--build", tree, file], {
    env: { ...process.env, SOURCE_DATE_EPOCH: sourceDate() },
    stdio: ["ignore", "ignore", "inherit"],
  });
  return file;
}
