import { parentPort } from "node:worker_threads";

import { present } from "../present.ts";
import { type Jq, loadJq } from "./jq.ts";
import { JqLimit, MemoryShortage } from "./jq-host.ts";
import { checkSchema, createValidators } from "./json-schema.ts";
import { ownKernelId } from "./processor-time.ts";
import type { Job, Limit, Message, Shortage, Step, StepResult } from "./protocol.ts";

/** The inside of the sandbox. Nothing here is limited in time: the pool ends the whole thread. */
const port = present(parentPort, "this is the inside of a thread");
const validate = createValidators();

function tell(message: Message): void {
  port.postMessage(message);
}

/**
 * Removes what reaches outside of this thread. Programs cannot get at it anyway: this is a second line of defence,
 * against mistakes in a library.
 */
function lockDown(): void {
  const { versions, version } = process;
  const global = globalThis as Record<string, unknown>;
  global["process"] = { versions, version, argv: [], env: {}, exitCode: 0 };
  const quiet = (): void => {};
  global["console"] = { log: quiet, info: quiet, warn: quiet, error: quiet, debug: quiet };
  for (const name of ["fetch", "WebSocket", "EventSource", "BroadcastChannel", "MessageChannel"])
    global[name] = undefined;
  // A thread that is started from a text has these, too.
  for (const name of ["require", "module", "exports", "__filename", "__dirname"]) global[name] = undefined;
}

/** Cleans an error message of jq: without its name in front and the count of errors at the end. */
function complaint(text: string): string {
  const lines = text.split("\n").filter((line) => !/^jq: \d+ compile errors?$/.test(line));
  return lines
    .join("\n")
    .replace(/^jq: error: /gm, "")
    .replaceAll(" (Unix shell quoting issues?)", "")
    .replace(/[ \t]+$/gm, "")
    .trim();
}

async function runStep(jq: Jq, step: Step, input: string): Promise<StepResult> {
  switch (step.kind) {
    case "check_schema":
      return { problems: checkSchema(JSON.parse(step.schema) as Record<string, unknown>) };
    case "validate":
      return { problems: validate(step.schema, input) };
    case "compile":
    case "run": {
      const given = step.kind === "run" ? input : "";
      const exit = await jq.run(step.program, given, (text) => tell({ kind: "output", text }));
      return exit.status === 0
        ? { problems: [] }
        : { problems: [], failure: complaint(exit.complaints) || `jq ended with status ${exit.status}` };
    }
  }
}

async function work(jq: Jq, job: Job): Promise<Message> {
  for (const step of job.steps) {
    const result = await runStep(jq, step, job.input ?? "");
    tell({ kind: "result", result });
    if (step.kind === "validate" && result.problems.length > 0) break;
  }
  return { kind: "done" };
}

function limitOf(error: unknown): Limit | Shortage {
  if (error instanceof MemoryShortage) return "shortage";
  return error instanceof JqLimit ? error.limit : "crash";
}

async function begin(): Promise<void> {
  const jq = await loadJq();
  port.on("message", (job: Job) => {
    work(jq, job).then(tell, (error: unknown) => tell({ kind: "done", limit: limitOf(error) }));
  });
  const kernelId = ownKernelId();
  lockDown();
  tell({ kind: "ready", kernelId });
}

// What it fails with ends the thread.
void begin();
