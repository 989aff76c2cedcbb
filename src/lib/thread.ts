import { Worker, type WorkerOptions } from "node:worker_threads";

import { type PartName, textOfPart } from "./parts.ts";

/** The files of threads in the sources. In the build they are parts, which are there when the files are not any more. */
const files = { sandbox: "./sandbox/worker.ts", yaml: "./yaml-worker.ts" } as const satisfies Partial<
  Record<PartName, string>
>;

/** Says whether Node itself can run the sources. Node 20 cannot without the loader `tsx`. */
function isRunnable(): boolean {
  return Boolean((process.features as { typescript?: unknown }).typescript);
}

/**
 * Starts a thread of the program, without arguments and environment.
 * @throws when the machine has no room for a thread.
 */
export function startThread(name: keyof typeof files, options: WorkerOptions): Worker {
  const bare: WorkerOptions = { argv: [], env: {}, execArgv: [], ...options };
  const text = textOfPart(name);
  if (text !== undefined) return new Worker(text, { ...bare, eval: true });
  const file = new URL(files[name], import.meta.url);
  if (isRunnable()) return new Worker(file, bare);
  const start = `import(${JSON.stringify(import.meta.resolve("tsx/esm/api"))}).then(({ register }) => {
    register();
    return import(${JSON.stringify(file.href)});
  })`;
  return new Worker(start, { ...bare, eval: true });
}
