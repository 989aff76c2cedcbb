import { expect, it } from "vitest";

import { differing } from "./differing.ts";

it("gives what is written otherwise, also where that is nothing", () => {
  const kept = { name: "quay", description: "Old", public: true };
  expect(differing(kept, { ...kept })).toEqual({});
  expect(differing({ name: "quay", description: "", public: false }, kept)).toEqual({
    description: "",
    public: false,
  });
});
