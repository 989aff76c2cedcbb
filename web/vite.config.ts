import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin, type Rolldown } from "vite";

import { pagePaths } from "./paths.ts";

const KiB = 1024;
/** Largest sizes of what browsers load, in bytes of gzip. */
const budgets = { entry: 130 * KiB, chunk: 20 * KiB, editor: 115 * KiB, css: 20 * KiB, font: 48 * KiB };

type Kind = keyof typeof budgets;

type Bundle = Rolldown.OutputBundle;

let start: Set<string> | undefined;

/** What a library names beside what every page begins with, and only pages use where something is written. */
const late = /\/@tanstack\/react-router\/dist\/esm\/useBlocker\.js$/;

/** Lists the modules that every page begins with: what the entry imports, at once. */
function modulesOfStart(context: Rolldown.ChunkingContext): Set<string> {
  const found = new Set<string>();
  const follow = (id: string): void => {
    if (found.has(id) || late.test(id)) return;
    found.add(id);
    context.getModuleInfo(id)?.importedIds.forEach(follow);
  };
  follow(fileURLToPath(new URL("main.tsx", import.meta.url)));
  return found;
}

const isOfStart = (id: string, context: Rolldown.ChunkingContext): boolean =>
  (start ??= modulesOfStart(context)).has(id);

/** Lists the files that every page begins with: the entry, and what it imports. */
function startOf(bundle: Bundle): Set<string> {
  const entry = Object.values(bundle).find((one) => one.type === "chunk" && one.name === "start");
  const found = new Set<string>();
  const follow = (fileName: string | undefined): void => {
    const output = fileName === undefined ? undefined : bundle[fileName];
    if (output?.type !== "chunk" || found.has(output.fileName)) return;
    found.add(output.fileName);
    output.imports.forEach(follow);
  };
  follow(entry?.fileName);
  return found;
}

function kindOf(fileName: string, start: ReadonlySet<string>): Kind | undefined {
  if (fileName.endsWith(".css")) return "css";
  if (fileName.endsWith(".woff2")) return "font";
  // These count together.
  if (!fileName.endsWith(".js") || start.has(fileName)) return undefined;
  return fileName.includes("/editor-") ? "editor" : "chunk";
}

function sizeOf(output: Bundle[string], kind: Kind): number {
  const content = output.type === "chunk" ? output.code : output.source;
  return kind === "font" ? content.length : gzipSync(content).length;
}

/** Fails the build when something outgrows its budget. */
function check(this: Rolldown.PluginContext, name: string, kind: Kind, size: number): void {
  if (size > budgets[kind]) this.error(`${name}: ${size} bytes, more than the ${budgets[kind]} of a ${kind}`);
}

/** Fails the build when a file outgrows its budget, and tells the server which addresses have pages. */
function shipping(): Plugin {
  return {
    name: "shipping",
    generateBundle() {
      this.emitFile({ type: "asset", fileName: "routes.json", source: JSON.stringify(pagePaths) });
    },
    // As they are sent: until then Vite changes them.
    writeBundle(_options, bundle) {
      const start = startOf(bundle);
      let entry = 0;
      for (const output of Object.values(bundle)) {
        if (start.has(output.fileName)) entry += sizeOf(output, "entry");
        const kind = kindOf(output.fileName, start);
        if (kind !== undefined) check.call(this, output.fileName, kind, sizeOf(output, kind));
      }
      check.call(this, [...start].join(", "), "entry", entry);
    },
  };
}

/** Says in every style sheet which layer wins, because browsers load them in any order. */
function layerOrder(): Plugin {
  return {
    name: "layer-order",
    enforce: "pre",
    transform: (code, id) =>
      id.endsWith(".css") ? { code: `@layer reset, tokens, base, parts;\n${code}`, map: null } : undefined,
  };
}

/** The server that `npm run dev:web` passes requests of the API on to. */
const server = process.env["WAYBILL_SERVER"] ?? "http://127.0.0.1:8001";

export default defineConfig({
  root: import.meta.dirname,
  base: "./",
  plugins: [layerOrder(), react(), shipping()],
  define: {
    __VERSION__: JSON.stringify(
      (JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string })
        .version,
    ),
  },
  build: {
    outDir: "../dist/web",
    emptyOutDir: true,
    assetsDir: "-/assets",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2022",
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: "editor", test: /node_modules\/(?:@codemirror|@lezer|@marijn)/ },
            // What each page begins with, and what many are made of, come in one piece each: a file more costs as much as some KB.
            {
              name: (id, context) => (isOfStart(id, context) ? "start" : null),
              debugName: "start",
              priority: 2,
            },
            { name: "common", test: /\/web\/(?:ui|parts|shell|domain|api)\//, minShareCount: 9, priority: 1 },
          ],
        },
      },
    },
  },
  server: { proxy: { "/api": server } },
});
