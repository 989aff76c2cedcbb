// Puts the program, and the packages that are nothing but code, into few files: finding and reading some 1,500 is most of what a
// start takes. The licenses of those packages go along. Arguments: the folder to write to; `dist` when left out.
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";

import { packagesOutside, postgresPackage } from "./packages-outside.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const output = resolve(process.argv[2] ?? join(root, "dist"));

/** What is in files of its own that need no other, by name: what runs late, and what threads run. See `src/lib/parts.ts`. */
const parts = {
  age: "./node_modules/age-encryption/dist/index.js",
  mail: "./node_modules/nodemailer/dist/cjs/nodemailer.js",
  pdf: "./node_modules/pdfkit/js/pdfkit.js",
};
const threads = { sandbox: "src/lib/sandbox/worker.ts", yaml: "src/lib/yaml-worker.ts" };
/** Leaves to the parts what they have. The program asks for it there. */
const withoutParts = {
  name: "without-parts",
  setup: ({ onResolve }) =>
    onResolve({ filter: /^(?:age-encryption|nodemailer|pdfkit)$/ }, ({ path }) => ({ path, external: true })),
};

/** Puts the fonts of pdfkit beside its code, which loads them from files when they are used. */
const fontsOfPdf = {
  name: "fonts-of-pdf",
  setup: ({ onLoad }) =>
    onLoad({ filter: /[/\\]pdfkit[/\\]js[/\\]pdfkit\.js$/ }, ({ path }) => {
      const text = readFileSync(path, "utf8");
      const contents = text.replaceAll(/require\$1\((?='#standard-fonts\/)/g, "require(");
      if (contents === text) throw new Error("pdfkit loads its fonts in another way than before");
      return { contents };
    }),
};

/**
 * Leaves out what pdfkit reads fonts from files with, three quarters of its code: the program writes with those that every reader of PDF
 * has. The first document would hold everybody up for as long as that takes to load.
 */
const withoutFontFiles = {
  name: "without-font-files",
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^fontkit$/ }, ({ path }) => ({ path, namespace: "left-out" }));
    onLoad({ filter: /^fontkit$/, namespace: "left-out" }, () => ({ contents: "" }));
  },
};

/** What is not put into the program, and what packages ask for that is not there at run time. */
const leftOut = [...packagesOutside, "@aws-sdk/*", postgresPackage("*"), "pg-native", "tsx", "typescript"];

/** Lists the folders of the packages that have gone into the program. */
function packagesIn(metafiles) {
  const files = metafiles
    .flatMap(({ outputs }) => Object.values(outputs))
    .flatMap((file) => Object.keys(file.inputs));
  const folders = files.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []);
  return [...new Set(folders)].toSorted((left, right) => left.localeCompare(right));
}

/** Writes what a package says of itself, and its license. @throws Error for one that has neither a text nor a name of it. */
function licenseOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
  const files = readdirSync(join(root, folder)).filter((file) =>
    /^(?:licen[cs]e|notice|copying)/i.test(file),
  );
  if (license === undefined && files.length === 0)
    throw new Error(`${name} does not say under which license it is`);
  const texts = files.map((file) => readFileSync(join(root, folder, file), "utf8").trim());
  return [`${name} ${version}${license === undefined ? "" : ` (${license})`}`, ...texts].join("\n\n");
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
const common = {
  absWorkingDir: root,
  bundle: true,
  platform: "node",
  target: "node20.19",
  legalComments: "none",
  metafile: true,
  logLevel: "warning",
};
const { metafile } = await build({
  ...common,
  entryPoints: {
    main: "src/main.ts",
  },
  outdir: output,
  splitting: true,
  format: "esm",
  external: leftOut,
  plugins: [withoutParts],
  alias: Object.fromEntries(asModules),
  // Packages in the older form of modules ask for parts of Node by `require`.
  banner: {
    js: 'import { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url);',
  },
});
const partsOf = (entryPoints, wrapping) =>
  build({
    ...common,
    ...wrapping,
    entryPoints,
    outdir: join(output, "parts"),
    format: "cjs",
    outExtension: { ".js": ".cjs" },
  });
const made = await Promise.all([
  partsOf(parts, { plugins: [fontsOfPdf, withoutFontFiles] }),
  // A thread that is started from a text finds these as globals, which the sandbox takes away from what it runs.
  partsOf(threads, {
    banner: { js: "((require, module, exports, __filename, __dirname) => {" },
    footer: { js: '})(require, { exports: {} }, {}, "/thread.cjs", "/");' },
  }),
]);
const metafiles = [metafile, ...made.map((each) => each.metafile)];
const licenses = packagesIn(metafiles).map(licenseOf);
writeFileSync(join(output, "LICENSES-OF-PACKAGES.txt"), `${licenses.join(`\n\n${"-".repeat(80)}\n\n`)}\n`);
chmodSync(join(output, "main.js"), 0o755);
