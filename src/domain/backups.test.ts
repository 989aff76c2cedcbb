import fc from "fast-check";
import { expect, it } from "vitest";

import {
  backupName,
  backupNamePattern,
  chooseOutdated,
  isUnsurelyLast,
  type DatedBackup,
  parseKeep,
  shareOfTime,
} from "./backups.ts";

it("reads rules of what to keep", () => {
  expect(parseKeep("7d,4w,12m")).toEqual({ days: 7, weeks: 4, months: 12 });
  expect(parseKeep("3w")).toEqual({ days: 0, weeks: 3, months: 0 });
  for (const wrong of ["", "7", "d", "7d,7d", "0d", "7y", "-1d", "7d,"])
    expect(parseKeep(wrong)).toBeUndefined();
});

it("works for a quarter of the time, and for more where that would take longer than four hours", () => {
  expect(shareOfTime(0)).toBe(0.25);
  expect(shareOfTime(180e9)).toBe(0.25);
  expect(shareOfTime(360e9)).toBe(0.5);
  expect(shareOfTime(1e12)).toBe(1);
});

const day = 86_400;
const on = (...days: number[]): DatedBackup[] =>
  days.map((at) => ({ id: `b${at}`, made_at: at * day + 100, needs: [], rows_only: false }));

it("keeps the last backup of each day, week and month that has one", () => {
  const twice = [...on(10), { id: "earlier", made_at: 10 * day + 50, needs: [], rows_only: false }];
  expect(chooseOutdated(twice, { days: 2, weeks: 0, months: 0 }).map(({ id }) => id)).toEqual(["earlier"]);
  // 1970-01-05 was a Monday: days 4 to 10 are of one week.
  const week = on(3, 4, 10, 11);
  expect(chooseOutdated(week, { days: 0, weeks: 9, months: 0 }).map(({ id }) => id)).toEqual(["b4"]);
});

it("keeps what others need", () => {
  const backups = on(1, 2, 3);
  backups[2] = { ...backups[2]!, needs: ["b1"] };
  expect(chooseOutdated(backups, { days: 1, weeks: 0, months: 0 }).map(({ id }) => id)).toEqual(["b2"]);
});

const rule = fc.record({ days: fc.nat(9), weeks: fc.nat(9), months: fc.nat(9) });
const dated = fc
  .uniqueArray(fc.tuple(fc.nat(400 * day), fc.constantFrom(true, false, undefined)), {
    maxLength: 40,
    selector: ([at]) => at,
  })
  .map((made) =>
    made.map(([made_at, rows_only], index) => ({ id: String(index), made_at, needs: [], rows_only })),
  );

it("keeps the last backup with files of evidence beside one of rows alone, of each period and of all", () => {
  const night = { id: "night", made_at: 10 * day + 50, needs: [], rows_only: false };
  const upgrade = { id: "upgrade", made_at: 10 * day + 100, needs: [], rows_only: true };
  const days = { days: 7, weeks: 0, months: 0 };
  expect(chooseOutdated([night, upgrade], days)).toEqual([]);
  // A week is filled by the one with files alone; day 11 is a Monday.
  const weeks = { days: 0, weeks: 4, months: 0 };
  expect(chooseOutdated([night, upgrade, ...on(11)], weeks)).toEqual([upgrade]);
  const later = { ...upgrade, id: "later", made_at: 11 * day };
  expect(chooseOutdated([night, upgrade, later], weeks)).toEqual([upgrade]);
  expect(chooseOutdated([night, later], { days: 1, weeks: 0, months: 0 })).toEqual([]);
});

it("keeps the last backup of each period where all are of rows alone", () => {
  const backups = [...on(10, 11), { id: "earlier", made_at: 10 * day + 50, needs: [], rows_only: false }];
  const ofRows = backups.map((each) => ({ ...each, rows_only: true }));
  expect(chooseOutdated(ofRows, { days: 2, weeks: 0, months: 0 }).map(({ id }) => id)).toEqual(["earlier"]);
});

it("keeps those of the last day of a period that may have files where none is known to have some", () => {
  const ofDays = on(4, 5, 6);
  const unsure = { id: "unsure", made_at: 5 * day + 50, needs: [], rows_only: undefined };
  const later = { ...unsure, id: "later", made_at: 5 * day + 60 };
  const rows = ofDays.map((each) => ({ ...each, rows_only: true }));
  const weeks = { days: 0, weeks: 1, months: 0 };
  const earlier = { ...unsure, id: "earlier", made_at: 4 * day + 50 };
  expect(chooseOutdated([...rows, earlier, unsure, later], weeks).map(({ id }) => id)).toEqual([
    "b4",
    "b5",
    "earlier",
  ]);
  expect(chooseOutdated([...ofDays, unsure, later], weeks).map(({ id }) => id)).toEqual([
    "b4",
    "b5",
    "unsure",
    "later",
  ]);
});

it("takes one that may have files for the last that has while none is known to have some", () => {
  const unsure = { id: "unsure", made_at: 0, needs: [], rows_only: undefined };
  const [rows, whole] = [true, false].map((rows_only) => ({ ...unsure, rows_only }));
  const isLast = (...others: (typeof unsure | DatedBackup)[]) => isUnsurelyLast(unsure, [unsure, ...others]);
  expect([isLast(), isLast(unsure, rows!), isLast(whole!)]).toEqual([true, true, false]);
  expect(isUnsurelyLast(rows!, [rows!])).toBe(false);
});

it("never takes the newest, keeps no more than was asked for, and takes nothing twice", () => {
  fc.assert(
    fc.property(dated, rule, (backups, keep) => {
      const gone = chooseOutdated(backups, keep);
      const stay = backups.filter((one) => !gone.includes(one));
      const [whole, maybeWhole] = [[false], [false, undefined]].map((wanted) =>
        backups.filter(({ rows_only }) => wanted.includes(rows_only as false)),
      );
      for (const some of [backups, whole!, maybeWhole!]) {
        const newest = Math.max(...some.map(({ made_at }) => made_at));
        if (some.length > 0) expect(stay.some(({ made_at }) => made_at === newest)).toBe(true);
      }
      const sure = stay.filter(({ rows_only }) => rows_only !== undefined);
      expect(sure.length).toBeLessThanOrEqual(2 + 2 * keep.days + keep.weeks + keep.months);
      const days = new Set(stay.map(({ made_at }) => Math.floor(made_at / day)));
      expect(days.size).toBeLessThanOrEqual(3 + 2 * keep.days + keep.weeks + keep.months);
      expect(chooseOutdated(stay, keep)).toEqual([]);
    }),
  );
});

it("names files by their moment, so that names are in order of time", () => {
  const [first, second] = [0, 1].map((at) => backupName(1_700_000_000 + at, "0123456789abcdef"));
  expect(first).toBe("waybill-20231114T221320Z-01234567.tar");
  expect(first! < second!).toBe(true);
  expect(first).toMatch(backupNamePattern);
});
