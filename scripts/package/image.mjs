import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { root, sourceDate } from "./stage.mjs";
import { packEqually } from "./tarball.mjs";

/** The last stage of the Containerfile, with the program from beside it instead of from an earlier stage. */
function lastStage() {
  const text = readFileSync(join(root, "Containerfile"), "utf8");
  const from = "COPY --from=build /out/waybill ";
  const stage = text.slice(text.lastIndexOf("\nFROM ") + 1);
  if (!stage.includes(from)) throw new Error(`The last stage of the Containerfile does not say ${from}`);
  return `ARG BASE_IMAGE=debian:bookworm-slim\n${stage.replace(from, "COPY waybill ")}`;
}

/**
 * Packs an image without what tells only in which container it was made, which is another one each time.
 * @param archive of it, as `docker save` writes one.
 * @returns the file.
 */
function packImage(archive, folder, file) {
  mkdirSync(folder);
  execFileSync("tar", ["xf", archive, "-C", folder]);
  const [image] = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8"));
  const { container: _, ...about } = JSON.parse(readFileSync(join(folder, image.Config), "utf8"));
  for (const name of ["config", "container_config"]) if (about[name] !== undefined) about[name].Hostname = "";
  const text = JSON.stringify(about);
  const config = `${createHash("sha256").update(text).digest("hex")}.json`;
  writeFileSync(join(folder, config), text);
  writeFileSync(join(folder, "manifest.json"), JSON.stringify([{ ...image, Config: config }]));
  return packEqually(folder, file, { names: ["manifest.json", config, ...image.Layers] });
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
  const archive = `${staged}-image.tar`;
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
  return packImage(
    archive,
    `${staged}-image-files`,
    join(output, `waybill-${version}-${platform}-image.tar.gz`),
  );
}
