import { closeSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, it, onTestFinished, vi } from "vitest";

import { openLogOutput } from "./log-output.ts";

const line = `${"x".repeat(9_999)}\n`;

/** A log on a full disk, and a way to make room: what is written then. */
function onFullDisk() {
  const file = join(tmpdir(), `waybill-log-${process.pid}-${Date.now()}`);
  const descriptor = openSync("/dev/full", "w");
  onTestFinished(() => {
    closeSync(descriptor);
    rmSync(file, { force: true });
  });
  return {
    output: openLogOutput(descriptor),
    makeRoom: () => {
      closeSync(descriptor);
      // The lowest number that is free is the one that has just become so.
      expect(openSync(file, "w")).toBe(descriptor);
    },
    written: () => readFileSync(file, "utf8").split("\n").filter(Boolean),
  };
}

it.runIf(process.platform === "linux")("goes on while nothing can be written, and keeps what waits", () => {
  const { output, makeRoom, written } = onFullDisk();
  for (let count = 0; count < 10; count += 1) output.write(line);
  makeRoom();
  output.write("last\n");
  output.flush();
  expect(written().map(({ length }) => length)).toEqual([...Array<number>(10).fill(9_999), 4]);
});

it.runIf(process.platform === "linux")("drops what is too much to keep, and says how much", () => {
  const { output, makeRoom, written } = onFullDisk();
  for (let count = 0; count < 200; count += 1) output.write(line);
  makeRoom();
  output.flush();
  for (const text of [line, "last\n"]) output.write(text);
  output.flush();
  const lines = written();
  const kept = lines.filter((text) => text.startsWith("x")).length - 1;
  expect(kept).toBeGreaterThan(50);
  const notice = lines.findIndex((text) => text.startsWith("{"));
  expect(JSON.parse(lines[notice]!)).toMatchObject({
    level: 40,
    msg: `${200 - kept} lines of this log are missing: they could not be written`,
  });
  expect(lines.slice(-1)).toEqual(["last"]);
});

it("writes lines that wait in time, and is woken up by nothing else", () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const file = join(tmpdir(), `waybill-log-${process.pid}-${Date.now()}`);
  const descriptor = openSync(file, "w");
  onTestFinished(() => {
    closeSync(descriptor);
    rmSync(file);
  });
  const output = openLogOutput(descriptor);
  expect(vi.getTimerCount()).toBe(0);
  for (const text of ["one\n", "two\n"]) output.write(text);
  expect([readFileSync(file, "utf8"), vi.getTimerCount()]).toEqual(["", 1]);
  vi.advanceTimersByTime(100);
  expect([readFileSync(file, "utf8"), vi.getTimerCount()]).toEqual(["one\ntwo\n", 0]);
});

it.runIf(process.platform === "linux")(
  "writes what waits once there is room, though nothing is logged",
  () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { output, makeRoom, written } = onFullDisk();
    output.write("one\n");
    vi.advanceTimersByTime(1_000);
    makeRoom();
    vi.advanceTimersByTime(100);
    expect([written(), vi.getTimerCount()]).toEqual([["one"], 0]);
  },
);
