// Migrations and the package's description are read from beside `dist`, so there is nothing to copy; the program only
// needs its run bit.
import { chmodSync } from "node:fs";

chmodSync(new URL("../dist/main.js", import.meta.url), 0o755);
