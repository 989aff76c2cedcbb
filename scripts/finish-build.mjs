// Migrations and the package's description are read from beside `dist`, so there is nothing to copy; the program only
// needs its command, and the files of the web app in the forms that are sent.
import { chmodSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const command = new URL("../dist/main.js", import.meta.url);
writeFileSync(command, '#!/usr/bin/env node\nimport "./src/main.js";\n');
chmodSync(command, 0o755);

const assets = fileURLToPath(new URL("../dist/web/-/assets/", import.meta.url));
for (const name of readdirSync(assets).filter((one) => /\.(?:js|css|svg)$/.test(one))) {
  const content = readFileSync(join(assets, name));
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: content.length };
  writeFileSync(join(assets, `${name}.br`), brotliCompressSync(content, { params }));
  writeFileSync(join(assets, `${name}.gz`), gzipSync(content, { level: 9 }));
}
