import { expect, it } from "vitest";

import { detailsInWords, instanceActionWords } from "./instance-log.ts";

it("says what was done in words, and of what it does not know the server's name", () => {
  expect(instanceActionWords("sign_in_failed")).toBe("Could not sign in");
  // Using one is a sign-in.
  expect(instanceActionWords("break_glass")).toBe("Made an emergency link");
  expect(instanceActionWords("erase_user")).toBe("Erase user");
});

it("says what else is known in a line", () => {
  expect(detailsInWords(null)).toBe("");
  expect(detailsInWords({ names: ["warn_days", "sso_only"], method: "api_key", files: 3 })).toBe(
    "names: warn_days, sso_only; method: api_key; files: 3",
  );
});
