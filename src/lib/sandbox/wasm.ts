/** The part of the WebAssembly API that is used here; the compiler knows it from browsers only. */
export interface WasmMemory {
  readonly buffer: ArrayBuffer;
}

export interface WasmInstance {
  readonly exports: Record<string, unknown>;
}

export type WasmModule = object;
export type WasmBytes = Uint8Array<ArrayBuffer>;

interface WebAssemblyApi {
  Instance: new (module: WasmModule, imports: object) => WasmInstance;
  Memory: new (limits: object) => WasmMemory;
  compile(bytes: WasmBytes): Promise<WasmModule>;
  instantiate(bytes: WasmBytes, imports: object): Promise<unknown>;
}

export const webAssembly = (globalThis as unknown as { WebAssembly: WebAssemblyApi }).WebAssembly;
