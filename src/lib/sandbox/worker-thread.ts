import { extname } from "node:path";
import { Worker, type WorkerOptions } from "node:worker_threads";

/** What one thread may use; the memory of jq programs is limited apart from this. */
const resourceLimits = { maxOldGenerationSizeMb: 192, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 };

const options: WorkerOptions = { name: "sandbox", argv: [], env: {}, execArgv: [], resourceLimits };

/** The worker's file is TypeScript in the sources and JavaScript in the build, like this one. */
const extension = extname(import.meta.filename);
const file = new URL(`./worker${extension}`, import.meta.url);

/** Whether Node itself runs the file. In the sources Node 20 needs the help of the loader that runs the program there. */
function isRunnable(): boolean {
  return extension !== ".ts" || Boolean((process.features as { typescript?: unknown }).typescript);
}

/** Starts a thread for untrusted programs, without environment. */
export function startWorkerThread(): Worker {
  if (isRunnable()) return new Worker(file, options);
  const start = `import(${JSON.stringify(import.meta.resolve("tsx/esm/api"))}).then(({ register }) => {
    register();
    return import(${JSON.stringify(file.href)});
  })`;
  return new Worker(start, { ...options, eval: true });
}
