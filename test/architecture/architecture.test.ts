import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

import { importsOf, readImports, root, sourceFiles } from "./imports.ts";
import { placeOf, wings } from "./places.ts";
import { violations } from "./violations.ts";

const folders = ["src", "demo", "web"].filter((folder) => existsSync(join(root, folder)));
const files = sourceFiles(folders);
const imports = readImports(files);

/** What is said of the house when one more file stands in it. */
function planted(path: string, text: string): string[] {
  return violations([...files, path], [...imports, ...importsOf(path, text)]);
}

test("the house is as planned", () => {
  expect(files.length).toBeGreaterThan(400);
  expect(imports.length).toBeGreaterThan(1500);
  expect(violations(files, imports)).toEqual([]);
});

test("every import leads to a file", () => {
  expect(imports.filter(({ to }) => !existsSync(join(root, to)))).toEqual([]);
});

test("the plan in the documentation names every wing", () => {
  const page = readFileSync(join(root, "docs/architecture.md"), "utf8");
  for (const wing of Object.keys(wings)) expect(page).toMatch(new RegExp(`^  ${wing}/`, "m"));
});

describe("a planted violation is found:", () => {
  const from = (path: string): string => `import { thing } from "${path}";\n`;
  const cases: [string, string, string, string][] = [
    [
      "a helper that takes another module's store",
      "src/modules/process/trails/helper.ts",
      from("../flows/store.ts"),
      "the store of process/flows is its own",
    ],
    [
      "a store that takes another's",
      "src/modules/process/trails/new-store.ts",
      from("../flows/store.ts"),
      "the store of process/flows is its own",
    ],
    [
      "a service that takes another module's store",
      "src/modules/process/trails/new-service.ts",
      from("../flows/store.ts"),
      "the store of process/flows is its own",
    ],
    [
      "background jobs from a service",
      "src/modules/process/trails/new-service.ts",
      from("../../../jobs/tasks.ts"),
      "services must not know entrances",
    ],
    [
      "a handler from another module's handler",
      "src/modules/process/trails/new-handlers.ts",
      from("../flows/handlers.ts"),
      "parts of handlers stand apart",
    ],
    [
      "a service from its own handler",
      "src/modules/process/trails/new-service.ts",
      from("./handlers.ts"),
      "services must not know handlers",
    ],
    ["a new folder that takes app", "src/novelty/thing.ts", from("../app.ts"), "is on no floor"],
    ["a module in no wing", "src/modules/novelty/service.ts", from("../kernel/deps.ts"), "is on no floor"],
    [
      "a module beside the wings' modules",
      "src/modules/process/loose.ts",
      from("./flows/service.ts"),
      "is on no floor",
    ],
    ["lib from the domain", "src/lib/new.ts", from("../domain/names.ts"), "lib must not know domain"],
    [
      "domain from the database",
      "src/domain/new.ts",
      from("../db/lock.ts"),
      "domain must not know foundations",
    ],
    [
      "the contract from the database",
      "src/contract/new.ts",
      from("../db/lock.ts"),
      "parts of foundations stand apart",
    ],
    [
      "HTTP from jobs",
      "src/http/new.ts",
      `const { thing } = await import("../jobs/tasks.ts");`,
      "parts of entrances stand apart",
    ],
    [
      "HTTP that takes a store",
      "src/http/new.ts",
      from("../modules/process/flows/store.ts"),
      "the store of process/flows is its own",
    ],
    [
      "a lower wing from a higher one",
      "src/modules/process/trails/new-service.ts",
      from("../../runtime/snapshots/report-service.ts"),
      "process must not know runtime",
    ],
    [
      "a circle of modules",
      "src/modules/process/flows/new-service.ts",
      from("../trails/service.ts"),
      "modules in a circle: ",
    ],
    ["pages from the program", "web/new.tsx", from("../src/contract/index.ts"), "share types only"],
    [
      "the program from pages",
      "src/http/new.ts",
      `import type { Thing } from "../../web/thing.ts";\n`,
      "share types only",
    ],
  ];
  test.each(cases)("%s", (_, path, text, complaint) => {
    const found = planted(path, text);
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(complaint);
  });

  test("but types of the contract may be taken by pages", () => {
    const text = `import type { Thing } from "../src/contract/index.ts";\nexport type { Other } from "../src/contract/trails.ts";\n`;
    expect(planted("web/new.tsx", text)).toEqual([]);
  });
});

test("a file's floor goes by its name", () => {
  const floors = ["store", "list-store", "attestation-sql", "service", "show", "report-handlers"].map(
    (name) => placeOf(`src/modules/process/trails/${name}.ts`)!.floor,
  );
  expect(floors).toEqual([5, 5, 4, 6, 6, 7]);
});
