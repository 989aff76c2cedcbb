import { present } from "../present.ts";
import type { WasmMemory } from "./wasm.ts";

/** Bytes that a program may write to its output and its error output, and use as memory. */
const limits = { output: 1024 * 1024, complaints: 16 * 1024, memory: 128 * 1024 * 1024 };

/** The failure of a program that ran into a limit of its machine. */
export class JqLimit extends Error {
  readonly limit: "memory" | "output";
  constructor(limit: "memory" | "output") {
    super(`jq used too much: ${limit}`);
    this.limit = limit;
  }
}

/** The failure of a program within its limits for which there was no memory. */
export class MemoryShortage extends Error {}

type Import = (...args: number[]) => unknown;

/** The imports of a WebAssembly module: functions by module and name. */
export type Imports = Record<string, Record<string, Import>>;

interface Source {
  bytes: Uint8Array;
  position: number;
}

/** The state of one run of jq: what it reads, what it wrote. */
export interface Run {
  input: Source;
  program: Source;
  onOutput(text: string): void;
  written: number;
  complaints: Uint8Array[];
  complained: number;
  memory: WasmMemory | undefined;
  /** Why it cannot go on; undefined while it can. */
  exceeded: JqLimit | MemoryShortage | undefined;
}

/** Error numbers of the C library (WASI's `noent` and `io`); system calls return them negated. */
const noSuchFile = -44;
const ioError = 29;
export const programPath = "/dev/stdin";

function readText(memory: Uint8Array, start: number): string {
  return Buffer.from(memory.subarray(start, memory.indexOf(0, start))).toString("latin1");
}

/** Lists the buffers of one `readv` or `writev`. */
function* buffersOf(memory: WasmMemory, list: number, count: number): Generator<Uint8Array> {
  const view = new DataView(memory.buffer);
  for (let index = 0; index < count; index += 1) {
    const start = view.getUint32(list + 8 * index, true);
    yield new Uint8Array(memory.buffer, start, view.getUint32(list + 8 * index + 4, true));
  }
}

function storeCount(memory: WasmMemory, at: number, count: number): number {
  new DataView(memory.buffer).setUint32(at, count, true);
  return 0;
}

function write(run: Run, fd: number, bytes: Buffer): void {
  if (fd !== 1) {
    if (run.complained < limits.complaints) run.complaints.push(bytes);
    run.complained += bytes.length;
    return;
  }
  run.written += bytes.length;
  if (run.written > limits.output) {
    run.exceeded = new JqLimit("output");
    throw run.exceeded;
  }
  if (bytes.length > 0) run.onOutput(bytes.toString("latin1"));
}

/** Makes replacements of the functions by which a program reaches the outside: it sees two files and no environment. */
function hostFunctions(run: Run): Record<string, (original: Import) => Import> {
  const memory = (): WasmMemory => present(run.memory, "a program only calls when it has been loaded");
  const absent = () => (): number => noSuchFile;
  return {
    _fd_read: () => (fd, list, count, result) => {
      const source = fd === 0 ? run.input : run.program;
      let total = 0;
      for (const buffer of buffersOf(memory(), list, count)) {
        const part = source.bytes.subarray(source.position, source.position + buffer.length);
        buffer.set(part);
        source.position += part.length;
        total += part.length;
      }
      return storeCount(memory(), result, total);
    },
    _fd_write: () => (fd, list, count, result) => {
      const bytes = Buffer.concat([...buffersOf(memory(), list, count)]);
      write(run, fd, bytes);
      return storeCount(memory(), result, bytes.length);
    },
    ___syscall_openat:
      (original) =>
      (directory, path, ...rest) =>
        readText(new Uint8Array(memory().buffer), path) === programPath
          ? original(directory, path, ...rest)
          : noSuchFile,
    ___syscall_stat64: absent,
    ___syscall_lstat64: absent,
    ___syscall_newfstatat: absent,
    ___syscall_readlinkat: absent,
    _fd_seek: () => () => ioError,
    _environ_sizes_get: () => (count, size) => storeCount(memory(), count, storeCount(memory(), size, 0)),
    _environ_get: () => () => 0,
    _emscripten_resize_heap: (original) => (size) => {
      if (size >>> 0 > limits.memory) run.exceeded = new JqLimit("memory");
      else {
        const grown = original(size);
        if (grown) return grown;
        run.exceeded = new MemoryShortage("no memory to grow into");
      }
      return 0;
    },
  };
}

/**
 * Puts our functions in place of the module's imports.
 * @throws Error when one is not found by its name, as in another build of jq.
 */
export function replaceImports(imports: Imports, run: Run): Imports {
  const replacements = new Map(Object.entries(hostFunctions(run)));
  const replaced = Object.entries(imports).map(([module, functions]) => [
    module,
    Object.fromEntries(
      Object.entries(functions).map(([key, original]) => {
        const replace = replacements.get(original.name);
        replacements.delete(original.name);
        return [key, replace?.(original) ?? original];
      }),
    ),
  ]);
  if (replacements.size > 0)
    throw new Error(`This build of jq has no ${[...replacements.keys()].join(", ")}`);
  return Object.fromEntries(replaced) as Imports;
}

/** Prepares a run. @param onOutput gets each piece of output when it is written; bytes as latin1. */
export function newRun(program: string, input: string, onOutput: (text: string) => void): Run {
  return {
    input: { bytes: Buffer.from(input, "utf8"), position: 0 },
    program: { bytes: Buffer.from(program, "utf8"), position: 0 },
    onOutput,
    written: 0,
    complaints: [],
    complained: 0,
    memory: undefined,
    exceeded: undefined,
  };
}
