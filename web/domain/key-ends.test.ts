import { expect, it } from "vitest";

import {
  endChoices,
  type EndRules,
  newEndChoices,
  noEndRules,
  type RotatedKey,
  sentEnd,
  usualEnd,
  usualNewEnd,
} from "./key-ends.ts";

const none = noEndRules;
const eternal: RotatedKey = { expires_at: 0 };
const ending: RotatedKey = { expires_at: 1_000_000 };
const choices = (key: RotatedKey, rules: EndRules) => endChoices(key, rules, String).map(([end]) => end);

it("offers to leave the end as it is, and others", () => {
  expect(endChoices(ending, none, String)).toEqual([
    ["kept", "until 1000000, as before"],
    [7, "a week"],
    [30, "30 days"],
    [90, "90 days"],
    [365, "a year"],
    [0, "for ever"],
  ]);
  expect(endChoices(eternal, none, String)[0]).toEqual(["kept", "for ever, as before"]);
  expect(choices(eternal, none)).toEqual(["kept", 7, 30, 90, 365]);
});

it("offers none that rules refuse", () => {
  expect(choices(eternal, { require_expiry: true, most_days: null })).toEqual([7, 30, 90, 365]);
  expect(choices(ending, { require_expiry: true, most_days: null })).toEqual(["kept", 7, 30, 90, 365]);
  expect(choices(eternal, { require_expiry: true, most_days: 45 })).toEqual([7, 30, 45]);
  expect(choices(eternal, { require_expiry: true, most_days: 3 })).toEqual([3]);
  expect(choices(eternal, { require_expiry: false, most_days: 30 })).toEqual(["kept", 7]);
});

it("offers first what the key has, unless rules end it for having no end", () => {
  expect(usualEnd(ending, { require_expiry: true, most_days: 30 })).toBe("kept");
  expect(usualEnd(eternal, none)).toBe("kept");
  expect(usualEnd(eternal, { require_expiry: true, most_days: null })).toBe(90);
  expect(usualEnd(eternal, { require_expiry: true, most_days: 30 })).toBe(30);
  // By rules that are not known here.
  expect(usualEnd({ expires_at: 0, deadline_at: 5 }, none)).toBe(90);
  // For its age: a new secret makes it young.
  expect(usualEnd({ expires_at: 0, deadline_at: 5 }, { require_expiry: false, most_days: 30 })).toBe("kept");
  for (const rules of [none, { require_expiry: true, most_days: 45 }, { require_expiry: true, most_days: 3 }])
    expect(choices(eternal, rules)).toContain(usualEnd(eternal, rules));
});

it("sends the end in seconds, a little sooner than the last that is allowed", () => {
  expect(sentEnd(0, none, 10.5)).toBe(0);
  expect(sentEnd(30, none, 10.5)).toBe(10 + 30 * 86_400);
  expect(sentEnd(30, { require_expiry: true, most_days: 30 }, 10.5)).toBe(10 + 30 * 86_400 - 300);
});

it("offers new keys the ends that rules allow, and first the usual one or the latest", () => {
  const offered = (rules: EndRules) => [newEndChoices(rules).map(([days]) => days), usualNewEnd(rules)];
  expect(newEndChoices(none).at(-1)).toEqual([0, "for ever"]);
  expect(offered(none)).toEqual([[7, 30, 90, 365, 0], 90]);
  expect(offered({ require_expiry: true, most_days: null })).toEqual([[7, 30, 90, 365], 90]);
  expect(offered({ require_expiry: true, most_days: 45 })).toEqual([[7, 30, 45], 45]);
  expect(offered({ require_expiry: true, most_days: 120 })).toEqual([[7, 30, 90, 120], 90]);
  // Without an end of its own it ends when rules say so.
  expect(newEndChoices({ require_expiry: false, most_days: 3 })).toEqual([
    [0, "for the 3 days that rules allow"],
  ]);
  expect(offered({ require_expiry: false, most_days: 45 })).toEqual([[7, 30, 0], 0]);
});
