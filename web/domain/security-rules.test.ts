import { expect, it } from "vitest";

import { addressesOf, addressList, differentRules, ruleDraft, rulesOfDraft } from "./security-rules.ts";

const rules = {
  max_key_age_days: { personal: null, service: 90 },
  require_expiry: true,
  warn_days: 7,
  unused_days: null,
  allowed_addresses: ["10.0.0.0/8", "2001:db8::/32"],
  sso_only: false,
};

it("reads from a form what was written into it", () => {
  expect(rulesOfDraft(ruleDraft(rules))).toEqual(rules);
  const none = { ...rules, allowed_addresses: null };
  expect(rulesOfDraft(ruleDraft(none))).toEqual(none);
});

it("tells in what rules differ, as the form calls it", () => {
  expect(differentRules(rules, rules)).toEqual([]);
  const now = { ...rules, max_key_age_days: { personal: 30, service: null }, allowed_addresses: null };
  expect(differentRules(rules, { ...now, require_expiry: false })).toEqual([
    { label: "Oldest service account key, in days", value: "no limit" },
    { label: "Oldest personal key, in days", value: "30" },
    { label: "Keys must have an end", value: "no" },
    { label: "Addresses they come from", value: "from anywhere" },
  ]);
});

it("takes addresses however they are separated", () => {
  expect(addressList(" 10.0.0.0/8,\n\t::1  192.0.2.1\n")).toEqual(["10.0.0.0/8", "::1", "192.0.2.1"]);
  expect(addressList(" \n")).toEqual([]);
});

it("tells what is wrong with the list, or with the first wrong address", () => {
  const wrong = (names: Record<string, string>) => (_error: Error, name: string) => names[name];
  const error = new Error("wrong");
  expect(
    addressesOf(error, wrong({ "allowed_addresses[3]": "third", "allowed_addresses[9]": "ninth" })),
  ).toBe("third");
  expect(addressesOf(error, wrong({ allowed_addresses: "list" }))).toBe("list");
  expect(addressesOf(error, wrong({}))).toBeUndefined();
});
