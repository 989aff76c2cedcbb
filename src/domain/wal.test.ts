import { expect, it } from "vitest";

import { chooseOutdatedBases, chooseOutdatedWal, followSegments, parseMoment, segmentOf } from "./wal.ts";

it("names the file of the log that has a place in it", () => {
  expect(segmentOf(1, "0/2000028")).toBe("000000010000000000000002");
  expect(segmentOf(3, "1A/FF000000")).toBe("000000030000001A000000FF");
});

it("follows the files of a log to the first one missing, past the end of a log number", () => {
  const names = ["0000000100000000000000FE", "0000000100000000000000FF", "000000010000000100000000"];
  expect(followSegments(names, names[0]!)).toEqual({ last: names[2], beyond: undefined });
  expect(followSegments([names[0]!, names[2]!], names[0]!)).toEqual({ last: names[0], beyond: names[2] });
  expect(followSegments(names.slice(1), names[0]!)).toEqual({ last: undefined, beyond: names[1] });
  const other = "000000020000000100000001";
  expect(followSegments([...names, other, "00000002.history"], names[0]!).last).toBe(names[2]);
});

it("keeps what of the log is not older than the oldest backup, and histories", () => {
  const names = [
    "000000010000000000000001",
    "000000010000000000000002",
    "000000010000000000000001.00000028.backup",
    "000000010000000000000002.00000028.backup",
    "00000002.history",
  ];
  expect(chooseOutdatedWal(names, "000000010000000000000002")).toEqual([names[0], names[2]]);
});

it("keeps the backups that any moment within reach needs", () => {
  const bases = [10, 20, 30, 40].map((finished_at) => ({ finished_at }));
  expect(chooseOutdatedBases(bases, 35)).toEqual([{ finished_at: 20 }, { finished_at: 10 }]);
  expect(chooseOutdatedBases(bases, 5)).toEqual([]);
  expect(chooseOutdatedBases(bases, 100)).toEqual(bases.slice(0, 3).toReversed());
});

it("reads moments with an offset from UTC, and nothing else", () => {
  expect(parseMoment("2026-11-23T14:05:00+01:00")).toEqual({
    seconds: 1795439100,
    text: "2026-11-23T14:05:00+01:00",
  });
  expect(parseMoment("2026-11-23T13:05Z")).toEqual({ seconds: 1795439100, text: "2026-11-23T13:05+00:00" });
  for (const wrong of [
    "2026-11-23T14:05:00",
    "2026-11-23",
    "now",
    "2026-13-23T14:05:00Z",
    "2026-11-23 14:05:00Z",
    "",
  ])
    expect(parseMoment(wrong)).toBeUndefined();
});
