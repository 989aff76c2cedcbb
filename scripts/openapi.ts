// Writes openapi.json from the contract, or with --check fails when the file is not what the contract says.
import { readFileSync, writeFileSync } from "node:fs";

import { endpoints } from "../src/contract/index.ts";
import { openApiDocument } from "../src/contract/openapi.ts";

const file = new URL("../openapi.json", import.meta.url);
const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
  version: string;
};
const text = `${JSON.stringify(openApiDocument(endpoints, { version, serverUrl: "http://localhost:8001" }), null, 2)}\n`;

if (!process.argv.includes("--check")) writeFileSync(file, text);
else if (readFileSync(file, "utf8") !== text) {
  console.error("openapi.json is out of date: run `npm run openapi` and read the difference");
  process.exitCode = 1;
}
