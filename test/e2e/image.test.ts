import { execFile, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { withDataDir } from "../support/server-process.ts";

const execute = promisify(execFile);
const root = join(import.meta.dirname, "..", "..");
// What the image stands on, for instance oci-archive:debian.tar: there is no registry in a test.
const base = process.env["WAYBILL_TEST_BASE_IMAGE"];
const canBuild =
  base !== undefined &&
  process.getuid?.() === 0 &&
  spawnSync("sh", ["-c", "command -v buildah"]).status === 0;

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

describe.skipIf(!canBuild)(
  "the image (needs root, buildah, and a base in WAYBILL_TEST_BASE_IMAGE; `npm run build` before)",
  () => {
    let folder: string;
    let image: string;
    const buildah = async (...args: string[]): Promise<string> => {
      const storage = ["--root", join(folder, "storage"), "--runroot", join(folder, "run")];
      const { stdout } = await execute("buildah", [...storage, "--storage-driver", "vfs", ...args]);
      return stdout.trim();
    };
    let container: string;

    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), "waybill-image-"));
      chmodSync(folder, 0o755);
      const made = await execute(
        process.execPath,
        [
          join(root, "scripts/package/main.mjs"),
          "--any-node",
          "--only",
          "image",
          "--base-image",
          base!,
          "--output",
          folder,
        ],
        { env: { ...process.env, SOURCE_DATE_EPOCH: "1700000000" } },
      );
      image = made.stdout.trim().split("\n").at(-1)!;
      await execute("gunzip", ["--keep", image]);
      container = await buildah("from", "--quiet", `docker-archive:${image.replace(/\.gz$/, "")}`);
    }, 600_000);
    afterAll(async () => {
      await buildah("rm", "--all");
      rmSync(folder, { recursive: true, force: true });
    });

    it("is run by the smoke script as its own user", { timeout: 240_000 }, async () => {
      const tree = await buildah("mount", container);
      const script = join(folder, "in-image.sh");
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
      await withDataDir(async (dataDir) => {
        mkdirSync(dataDir);
        await execute("chown", ["10001:10001", dataDir]);
        const { stdout } = await execute(
          process.execPath,
          [join(root, "scripts/package/smoke.mjs"), script],
          { env: { ...process.env, WAYBILL_DATA_DIR: dataDir } },
        );
        expect(stdout).toContain("restart, list, web app");
      });
    });
  },
);
