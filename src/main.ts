#!/usr/bin/env node
import { outliveReaders } from "./cli/output.ts";
import { runCli } from "./cli/program.ts";

outliveReaders([process.stdout, process.stderr]);
process.exitCode = await runCli(process.argv);
