import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { root, sourceDate } from "./stage.mjs";

/** The last stage of the Containerfile, with the program from beside it instead of from an earlier stage. */
function lastStage() {
  const text = readFileSync(join(root, "Containerfile"), "utf8");
  const from = "COPY --from=build /out/waybill ";
  const stage = text.slice(text.lastIndexOf("\nFROM ") + 1);
  if (!stage.includes(from)) throw new Error(`The last stage of the Containerfile does not say ${from}`);
  return `ARG BASE_IMAGE=debian:bookworm-slim\n${stage.replace(from, "COPY waybill ")}`;
}

/**
 * Makes a container image as an archive that `docker load` and `podman load` take, without a daemon, by `buildah`.
 * @param baseImage what it stands on, as `FROM` takes it: `debian:bookworm-slim`, `oci-archive:debian.tar`. The folder is used up.
 */
export function makeImage(staged, output, { version, platform, baseImage }) {
  const context = `${staged}-image`;
  mkdirSync(context);
  renameSync(staged, join(context, "waybill"));
  writeFileSync(join(context, "Containerfile"), lastStage());
  const archive = join(output, `waybill-${version}-${platform}-image.tar`);
  rmSync(archive, { force: true });
  const storage = ["--root", `${staged}-storage`, "--runroot", `${staged}-run`, "--storage-driver", "vfs"];
  const buildah = (...args) =>
    execFileSync("buildah", [...storage, ...args], { stdio: ["ignore", "ignore", "inherit"] });
  const image = `waybill:${version}`;
  const times = ["--timestamp", sourceDate(), "--isolation", "chroot", "--format", "docker"];
  try {
    buildah("bud", ...times, "--build-arg", `BASE_IMAGE=${baseImage}`, "--tag", image, context);
    buildah("push", "--quiet", image, `docker-archive:${archive}:${image}`);
  } finally {
    buildah("rmi", "--all", "--force");
  }
  execFileSync("gzip", ["-n", "-6", "--force", archive]);
  return `${archive}.gz`;
}
