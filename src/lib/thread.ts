import { extname } from "node:path";
import { Worker, type WorkerOptions } from "node:worker_threads";

/** The program is TypeScript in the sources and JavaScript in the build, and so are the files of threads. */
const extension = extname(import.meta.filename);

/** Whether Node itself runs the file. In the sources Node 20 needs the help of the loader that runs the program there. */
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
