import jqBuild from "jq-wasm/dist/build/jq.js";

import { type Imports, MemoryShortage, newRun, programPath, replaceImports, type Run } from "./jq-host.ts";
import { type WasmBytes, type WasmInstance, type WasmModule, webAssembly } from "./wasm.ts";

interface Loaded {
  callMain(args: string[]): number;
}

/** The package's own function that starts jq. */
type Load = (options: {
  instantiateWasm?: (imports: Imports, receive: (instance: WasmInstance) => void) => object;
}) => Promise<Loaded>;

/** Compiles jq. Its bytes are caught at the package's first start: the package offers no other way to them. */
async function compileJq(load: Load): Promise<WasmModule> {
  const original = webAssembly.instantiate;
  try {
    const bytes = await new Promise<WasmBytes>((resolve, reject) => {
      webAssembly.instantiate = (taken: WasmBytes) => {
        resolve(taken);
        // This start is of no further use and never ends.
        return new Promise<never>(() => {});
      };
      load({}).catch(reject);
    });
    return await webAssembly.compile(bytes);
  } finally {
    webAssembly.instantiate = original;
  }
}

interface JqExit {
  /** 0: success; 3: the program does not compile; 5: an uncaught error. */
  status: number;
  /** What it wrote to its error output. */
  complaints: string;
}

/** A runner of jq programs, each on a fresh WebAssembly instance. Not limited in time: use it in a worker. */
export interface Jq {
  /**
   * Runs a program.
   * @param input JSON texts; when empty, the program is compiled and not run.
   * @param onOutput called for each piece of output when it is written; bytes as latin1.
   * @throws JqLimit when the program needs more memory or writes more than is allowed, MemoryShortage when the machine
   * has less than that.
   */
  run(program: string, input: string, onOutput: (text: string) => void): Promise<JqExit>;
}

/** Creates an instance for one run. The module is known to be good, so that only memory can be missing. */
function createInstance(module: WasmModule, imports: Imports, run: Run): WasmInstance {
  try {
    return new webAssembly.Instance(module, replaceImports(imports, run));
  } catch (error) {
    if (error instanceof RangeError)
      run.exceeded = new MemoryShortage("no memory to begin", { cause: error });
    throw error;
  }
}

/** Loads jq. Takes some tens of milliseconds and of megabytes, so only workers do. */
export async function loadJq(): Promise<Jq> {
  const load = jqBuild as unknown as Load;
  const module = await compileJq(load);
  return {
    run: async (program, input, onOutput) => {
      const run = newRun(program, input, onOutput);
      try {
        const jq = await load({
          instantiateWasm: (imports, receive) => {
            const instance = createInstance(module, imports, run);
            run.memory = Object.values(instance.exports).find((value) => value instanceof webAssembly.Memory);
            receive(instance);
            return instance.exports;
          },
        });
        const status = jq.callMain(["-c", "-M", "--unbuffered", "-f", programPath]);
        if (run.exceeded !== undefined) throw run.exceeded;
        return { status, complaints: Buffer.concat(run.complaints).toString("utf8") };
      } catch (error) {
        throw run.exceeded ?? error;
      }
    },
  };
}
