import fs, { readlinkSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";

import { vi } from "vitest";

/** Whether the machine tells which files a process has open. */
export const tellsDescriptors = fs.existsSync("/proc/self/fd");

/** Does work and tells which files and folders were brought to the disk meanwhile, in that order. */
export async function flushesDuring(work: () => unknown): Promise<string[]> {
  const paths: string[] = [];
  const note = (descriptor: number): void => void paths.push(readlinkSync(`/proc/self/fd/${descriptor}`));
  const handle = await open("/");
  const handles = Object.getPrototypeOf(handle) as FileHandle;
  await handle.close();
  const { fsyncSync } = fs;
  const { sync } = handles;
  const spies = [
    vi.spyOn(fs, "fsyncSync").mockImplementation((descriptor) => {
      note(descriptor);
      fsyncSync(descriptor);
    }),
    vi.spyOn(handles, "sync").mockImplementation(function (this: FileHandle) {
      note(this.fd);
      return sync.call(this);
    }),
  ];
  syncBuiltinESMExports();
  try {
    await work();
    return paths;
  } finally {
    for (const spy of spies) spy.mockRestore();
    syncBuiltinESMExports();
  }
}
