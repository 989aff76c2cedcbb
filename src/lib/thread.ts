import { extname } from "node:path";
import { Worker, type WorkerOptions } from "node:worker_threads";

/** The extension of the files of threads: TypeScript in the sources, JavaScript in the build. */
const extension = extname(import.meta.filename);

/** Says whether Node itself can run the file. Node 20 cannot run the sources without the loader `tsx`. */
function isRunnable(): boolean {
  return extension !== ".ts" || Boolean((process.features as { typescript?: unknown }).typescript);
}

/**
 * Starts a thread of the program, without arguments and environment.
 * @param name the thread's file, relative to this one and without its extension.
 * @throws when the machine has no room for a thread.
 */
export function startThread(name: string, options: WorkerOptions): Worker {
  const file = new URL(`${name}${extension}`, import.meta.url);
  const bare: WorkerOptions = { argv: [], env: {}, execArgv: [], ...options };
  if (isRunnable()) return new Worker(file, bare);
  const start = `import(${JSON.stringify(import.meta.resolve("tsx/esm/api"))}).then(({ register }) => {
    register();
    return import(${JSON.stringify(file.href)});
  })`;
  return new Worker(start, { ...bare, eval: true });
}
