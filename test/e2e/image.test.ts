import { execFile, spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { sha256 } from "../../src/lib/hash.ts";
import { folderOnDisk } from "../support/memory-folder.ts";
import { closeSource, copySource, makePackages } from "../support/packages.ts";
import { withDataDir } from "../support/server-process.ts";

const execute = promisify(execFile);
const root = join(import.meta.dirname, "..", "..");
// What the image stands on, for instance oci-archive:debian.tar: there is no registry in a test.
const base = process.env["WAYBILL_TEST_BASE_IMAGE"];
// What the program is built in, alike: it reaches the packages' registry.
const nodeBase = process.env["WAYBILL_TEST_NODE_IMAGE"];
const canBuild =
  base !== undefined &&
  process.getuid?.() === 0 &&
  spawnSync("sh", ["-c", "command -v buildah"]).status === 0;

/** Images in a folder of their own. */
class Images {
  readonly folder = mkdtempSync(join(folderOnDisk(), "waybill-image-"));

  constructor() {
    chmodSync(this.folder, 0o755);
  }

  async buildah(...args: string[]): Promise<string> {
    const storage = ["--root", join(this.folder, "storage"), "--runroot", join(this.folder, "run")];
    const command = [...storage, "--storage-driver", "vfs", ...args];
    const { stdout } = await execute("buildah", command, { maxBuffer: 64 * 1024 * 1024 });
    return stdout.trim();
  }

  /** Runs an image by the smoke script, as its own user. @returns what that printed. */
  async smoke(image: string): Promise<string> {
    const tree = await this.buildah("mount", await this.buildah("from", "--quiet", image));
    const script = join(this.folder, "in-image.sh");
    writeFileSync(
      script,
      `#!/bin/sh
exec unshare --mount sh -c 'tree=$1; shift
mount -t proc proc "$tree/proc"; mount --rbind /dev "$tree/dev"
mkdir -p "$tree$WAYBILL_DATA_DIR"; mount --bind "$WAYBILL_DATA_DIR" "$tree$WAYBILL_DATA_DIR"
exec chroot --userspec=10001:10001 "$tree" env -i PATH=/usr/local/bin:/usr/bin:/bin HOST=0.0.0.0 PORT="$PORT" WAYBILL_DATA_DIR="$WAYBILL_DATA_DIR" waybill "$@"' sh '${tree}' "$@"
`,
    );
    chmodSync(script, 0o755);
    return withDataDir(async (dataDir) => {
      mkdirSync(dataDir);
      await execute("chown", ["10001:10001", dataDir]);
      const { stdout } = await execute(process.execPath, [join(root, "scripts/package/smoke.mjs"), script], {
        env: { ...process.env, WAYBILL_DATA_DIR: dataDir },
      });
      return stdout;
    });
  }

  async remove(): Promise<void> {
    await this.buildah("rm", "--all");
    rmSync(this.folder, { recursive: true, force: true });
  }
}

describe("the Containerfile", () => {
  const text = readFileSync(join(root, "Containerfile"), "utf8");

  it("runs as nobody special, says what it offers, and stops as the program does", () => {
    for (const line of [
      "USER 10001:10001",
      "VOLUME /var/lib/waybill",
      "EXPOSE 8001",
      "STOPSIGNAL SIGTERM",
      'ENTRYPOINT ["waybill"]',
      'CMD ["serve"]',
    ])
      expect(text.split("\n")).toContain(line);
    expect(text).toContain('CMD ["waybill", "health"]');
  });
});

describe.skipIf(!canBuild)("the image (needs root, buildah, and a base in WAYBILL_TEST_BASE_IMAGE)", () => {
  let images: Images;
  let image: string;

  /** Makes the image of a copy of the source, built there, into a folder of its own. @returns its file. */
  async function make(name: string, prepare?: (source: string) => Promise<void>): Promise<string> {
    const source = join(images.folder, `${name}-source`);
    const output = join(images.folder, name);
    await copySource(source);
    await prepare?.(source);
    await makePackages(source, output, ["image"], { baseImage: base! });
    rmSync(source, { recursive: true });
    return join(output, readdirSync(output)[0]!);
  }
  const unpacked = (): string => image.replace(/\.gz$/, "");
  beforeAll(async () => {
    images = new Images();
    image = await make("first");
    await execute("gunzip", ["--keep", image]);
  }, 600_000);
  afterAll(() => images.remove());

  it("is run by the smoke script as its own user", { timeout: 240_000 }, async () => {
    expect(await images.smoke(`docker-archive:${unpacked()}`)).toContain("restart, list, web app");
  });

  it("is small, and has nothing in it that is of the day it was made", async () => {
    expect(statSync(image).size).toBeLessThanOrEqual(130_000_000);
    const { stdout: manifest } = await execute("tar", ["xOf", unpacked(), "manifest.json"]);
    const [{ Layers: layers }] = JSON.parse(manifest) as [{ Layers: string[] }];
    const list = 'tar xOf "$1" "$2" | tar t';
    const { stdout } = await execute("sh", ["-c", list, "sh", unpacked(), layers.at(-1)!], {
      maxBuffer: 64 * 1024 * 1024,
    });
    // `buildah` leaves empty files where it has mounted some.
    const isOurs = (name: string): boolean => /^etc\/(?!$|hosts$|resolv\.conf$)/.test(name);
    expect(stdout.split("\n").filter(isOurs).toSorted()).toEqual(["etc/group", "etc/passwd"]);
  });

  it(
    "equals another one of the same commit, by whoever lets nobody see files",
    { timeout: 600_000 },
    async () => {
      const other = await make("other", closeSource);
      expect(sha256(readFileSync(other)).equals(sha256(readFileSync(image)))).toBe(true);
    },
  );
});

describe.skipIf(!canBuild || nodeBase === undefined)(
  "the whole Containerfile (needs, besides, what is built in by WAYBILL_TEST_NODE_IMAGE)",
  () => {
    let images: Images;
    beforeAll(() => {
      images = new Images();
    });
    afterAll(() => images.remove());

    it("makes of a clone an image that runs", { timeout: 1_800_000 }, async () => {
      const clone = join(images.folder, "clone");
      mkdirSync(clone);
      const listed = await execute("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
        cwd: root,
        maxBuffer: 64 * 1024 * 1024,
      });
      const files = join(images.folder, "files");
      const there = listed.stdout.split("\0").filter((name) => name !== "" && existsSync(join(root, name)));
      writeFileSync(files, there.join("\0"));
      const copy = 'tar cf - --null --files-from "$1" | tar xf - -C "$2"';
      await execute("sh", ["-c", copy, "sh", files, clone], { cwd: root });
      const ofCommit = ["--timestamp", "1700000000", "--isolation", "chroot", "--format", "docker"];
      const standing = ["--build-arg", `NODE_IMAGE=${nodeBase}`, "--build-arg", `BASE_IMAGE=${base}`];
      const file = ["--file", join(clone, "Containerfile")];
      await images.buildah("bud", ...ofCommit, ...standing, ...file, "--tag", "whole", clone);
      expect(await images.smoke("localhost/whole")).toContain("restart, list, web app");
    });
  },
);
