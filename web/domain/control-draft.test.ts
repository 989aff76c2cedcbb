import { describe, expect, it } from "vitest";

import { controlDraft, controlStart, controlText, givenControl } from "./control-draft.ts";

const control = {
  name: "Reviewed changes",
  description: "Somebody else has looked at it",
  links: { "The standard": "https://standards.test/7", Notes: "https://notes.test" },
};

describe("the draft of a control", () => {
  it("has its links one a line, and is sent as it was told", () => {
    const draft = controlDraft(control);
    expect(draft.links).toBe("The standard https://standards.test/7\nNotes https://notes.test");
    expect(givenControl(draft)).toEqual(control);
    expect(controlDraft({ name: "", description: null, links: {} })).toEqual(controlStart);
  });

  it("takes an address without words for both, and leaves out empty lines", () =>
    expect(
      givenControl({ ...controlStart, links: "\n  https://a.test \n\n  b   https://b.test\n" }).links,
    ).toEqual({
      "https://a.test": "https://a.test",
      b: "https://b.test",
    }));

  it("says the same in other spaces and empty lines between links, and something else in other words", () => {
    const draft = controlDraft(control);
    expect(controlText({ ...draft, links: `${draft.links.replaceAll("\n", "\n\n ")}\n` })).toBe(
      controlText(draft),
    );
    for (const other of [{ name: "Other" }, { description: "" }, { links: "" }])
      expect(controlText({ ...draft, ...other })).not.toBe(controlText(draft));
    expect(controlText(draft)).toBe(
      [
        "name Reviewed changes",
        "description Somebody else has looked at it",
        "link The standard https://standards.test/7",
        "link Notes https://notes.test",
      ].join("\n"),
    );
  });
});
