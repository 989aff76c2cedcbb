import { describe, expect, it } from "vitest";

import { actionDraft, actionStart, actionText, draftOverTheirs, missingIn } from "./action-drafts.ts";
import { needsAddress } from "./actions.ts";

const stored = {
  name: "wake-up",
  environments: ["shop-prod", "shop-test"],
  triggers: ["ON_SILENT_ENV", "ON_STARTED_ARTIFACT"],
  targets: [
    { type: "WEBHOOK" as const },
    { type: "EMAIL" as const, emails: ["ann@shop.test", "bo@shop.test"] },
  ],
};

describe("drafts of actions", () => {
  it("say what they do line by line, in one order", () => {
    expect(actionText("env", actionDraft(stored))).toBe(
      "Name\nwake-up\n\nIn\nshop-prod\nshop-test\n\nWhen\nan artifact starts\nits reporter falls silent\n\nTell\nWEBHOOK\nEMAIL ann@shop.test, bo@shop.test\n",
    );
    const same = { ...stored, triggers: stored.triggers.toReversed() };
    expect(actionText("env", actionDraft(same))).toBe(actionText("env", actionDraft(stored)));
  });

  it("differ by addresses that were written, and by a name that was only typed", () => {
    const draft = actionDraft(stored);
    const [webhook, email] = draft.targets;
    const targets = [{ ...webhook!, webhook: "https://hooks.shop.test/1" }, email!];
    expect(actionText("env", { ...draft, targets })).not.toBe(actionText("env", draft));
    expect(actionText("env", { ...draft, typed: "shop" })).not.toBe(actionText("env", draft));
  });

  it("say what they lack", () => {
    expect(missingIn("env", actionStart)).toBe("Choose an environment first");
    expect(missingIn("flow", actionStart)).toBe("Choose a flow first");
    expect(missingIn("env", { ...actionDraft(stored), triggers: [] })).toBe("Choose when it happens first");
    expect(missingIn("env", { ...actionDraft(stored), targets: [] })).toBe("Choose who is told first");
    expect(missingIn("env", actionDraft(stored))).toBeUndefined();
    expect(missingIn("env", { ...actionDraft(stored), typed: " shop-x " })).toBe("Add shop-x or remove it");
  });

  it("keep no address of a place where somebody else has put another target", () => {
    const begun = actionDraft(stored);
    const moved = actionDraft({ ...stored, targets: [{ type: "SLACK", context: null }, ...stored.targets] });
    const needs = (kept: typeof begun): boolean =>
      needsAddress(draftOverTheirs(begun, begun, kept).targets[0]!, 0);
    expect(needs(actionDraft({ ...stored, name: "other" }))).toBe(false);
    expect(needs(moved)).toBe(true);
  });
});
