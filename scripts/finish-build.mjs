// Migrations and the package's description are read from beside `dist`, so there is nothing to copy; the program only
// needs its command.
import { chmodSync, writeFileSync } from "node:fs";

const command = new URL("../dist/main.js", import.meta.url);
writeFileSync(command, '#!/usr/bin/env node\nimport "./src/main.js";\n');
chmodSync(command, 0o755);
