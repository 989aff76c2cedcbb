// Writes web/api/operations.ts, which role each operation needs, from the contract; with --check fails when the file is not
// what the contract says.
import { readFileSync, writeFileSync } from "node:fs";

import type { Access } from "../src/contract/endpoint.ts";
import { endpoints } from "../src/contract/index.ts";

const file = new URL("../web/api/operations.ts", import.meta.url);

function needed(access: Access): string {
  if (access.kind === "organization") return access.anonymous ? "anybody" : access.role;
  return access.kind;
}

const lines = Object.values(endpoints)
  .map(
    ({ method, path, access }) =>
      `  ${JSON.stringify(`${method} ${path}`)}: ${JSON.stringify(needed(access))},`,
  )
  .sort();
const text = `// Made from the contract by \`npm run web:operations\`: what each operation asks of who calls it. A role is needed in the
// organization of the path; \`anybody\` is any role, and everybody where the organization is public.

export const operationAccess = {
${lines.join("\n")}
} as const;
`;

if (!process.argv.includes("--check")) writeFileSync(file, text);
else if (readFileSync(file, "utf8") !== text) {
  console.error("web/api/operations.ts is out of date: run `npm run web:operations`");
  process.exitCode = 1;
}
