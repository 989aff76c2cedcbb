import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { root } from "./stage.mjs";
import { packEqually } from "./tarball.mjs";

const source = join(root, "deploy", "helm", "waybill");

/**
 * Packs the Helm chart. What it shares with other packages, alerts and dashboard, is put in as files.
 * @throws Error for a chart of another version than the program's.
 */
export function makeChart(work, output, { version }) {
  const manifest = readFileSync(join(source, "Chart.yaml"), "utf8");
  for (const line of [`version: ${version}`, `appVersion: "${version}"`])
    if (!manifest.split("\n").includes(line)) throw new Error(`Chart.yaml does not say ${line}`);
  const folder = join(work, "chart");
  cpSync(source, folder, {
    recursive: true,
    dereference: true,
    filter: (path) => !path.startsWith(join(source, "ci")),
  });
  return packEqually(folder, join(output, `waybill-chart-${version}.tgz`));
}
