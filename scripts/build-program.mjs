// Puts the program, and the packages that are nothing but code, into few files: finding and reading some 1,500 is most of what a
// start takes. The licenses of those packages go along. Arguments: the folder to write to; `dist` when left out.
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";

import { packagesOutside, postgresPackage } from "./packages-outside.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const output = resolve(process.argv[2] ?? join(root, "dist"));

/** What is not put into the program, and what packages ask for that is not there at run time. */
const leftOut = [...packagesOutside, "@aws-sdk/*", postgresPackage("*"), "pg-native", "tsx", "typescript"];

/** Lists the folders of the packages that have gone into the program. */
function packagesIn(metafile) {
  const files = Object.values(metafile.outputs).flatMap((file) => Object.keys(file.inputs));
  const folders = files.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []);
  return [...new Set(folders)].sort();
}

/** Writes what a package says of itself, and its license. @throws Error for one that has neither a text nor a name of it. */
function licenseOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
  if (license === undefined) throw new Error(`${name} does not say under which license it is`);
  const files = readdirSync(join(root, folder)).filter((file) =>
    /^(?:licen[cs]e|notice|copying)/i.test(file),
  );
  const texts = files.map((file) => readFileSync(join(root, folder, file), "utf8").trim());
  return [`${name} ${version} (${license})`, ...texts].join("\n\n");
}

/**
 * Packages of OpenTelemetry that are put in from their newer form of modules, of which only what is used is taken: a sixth. They are
 * in files that are loaded when traces are switched on.
 */
const openTelemetry = [
  "api-logs",
  "core",
  "otlp-transformer",
  "resources",
  "sdk-logs",
  "sdk-metrics",
  "sdk-trace",
];
const asModules = openTelemetry.map((name) => [
  `@opentelemetry/${name}`,
  `./node_modules/@opentelemetry/${name}/build/esm/index.js`,
]);

rmSync(output, { recursive: true, force: true });
const { metafile } = await build({
  absWorkingDir: root,
  entryPoints: {
    main: "src/main.ts",
    // The files of threads, where `startThread` looks for them.
    "sandbox/worker": "src/lib/sandbox/worker.ts",
    "yaml-worker": "src/lib/yaml-worker.ts",
  },
  outdir: output,
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node20.19",
  external: leftOut,
  alias: Object.fromEntries(asModules),
  // Packages in the older form of modules ask for parts of Node by `require`.
  banner: {
    js: 'import { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url);',
  },
  legalComments: "none",
  metafile: true,
  logLevel: "warning",
});
const licenses = packagesIn(metafile).map(licenseOf);
writeFileSync(join(output, "LICENSES-OF-PACKAGES.txt"), `${licenses.join(`\n\n${"-".repeat(80)}\n\n`)}\n`);
chmodSync(join(output, "main.js"), 0o755);
