// Puts beside the files of the web app the forms in which they are sent.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const assets = fileURLToPath(new URL("../dist/web/-/assets/", import.meta.url));
for (const name of readdirSync(assets).filter((one) => /\.(?:js|css|svg)$/.test(one))) {
  const content = readFileSync(join(assets, name));
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: content.length };
  writeFileSync(join(assets, `${name}.br`), brotliCompressSync(content, { params }));
  writeFileSync(join(assets, `${name}.gz`), gzipSync(content, { level: 9 }));
}
