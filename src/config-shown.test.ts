import { readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { packageRoot } from "./config.ts";
import { showSettings } from "./config-shown.ts";

const documented = new Set(
  readFileSync(join(packageRoot, "docs", "operating.md"), "utf8").match(
    /\b(?:WAYBILL|DATABASE)_[A-Z0-9_]+\b/g,
  ),
);

describe("settings that are shown to others", () => {
  it("are known to be harmless, and have a value that such a setting may have", () => {
    const settings = Object.fromEntries(
      [...documented, "PORT", "HOST"].map((name) => [name, `horse of ${name}`]),
    );
    const { hidden, ...shown } = showSettings(settings);
    expect(JSON.stringify(shown)).not.toContain("horse of");
    expect(hidden).toEqual(settings);
    expect([...shown.set, ...shown.unknown].toSorted()).toEqual(Object.keys(settings).toSorted());
  });

  it("are shown by value if they are numbers and words to choose from, else by name", () => {
    expect(
      showSettings({
        PORT: "8002",
        WAYBILL_LOG_LEVEL: "debug",
        WAYBILL_SECRET_KEY: "k".repeat(32),
        WAYBILL_SECRET_KEY_FILE: "/run/key",
        WAYBILL_NO_SUCH: "x",
        PGPASSWORD: "horse",
        HOME: "/root",
        WAYBILL_DEV: "",
      }),
    ).toEqual({
      values: { PORT: "8002", WAYBILL_LOG_LEVEL: "debug" },
      set: ["WAYBILL_SECRET_KEY", "WAYBILL_SECRET_KEY_FILE"],
      unknown: ["WAYBILL_NO_SUCH"],
      hidden: {
        WAYBILL_SECRET_KEY: "k".repeat(32),
        WAYBILL_SECRET_KEY_FILE: "/run/key",
        WAYBILL_NO_SUCH: "x",
        PGPASSWORD: "horse",
      },
    });
  });
});
