import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import { describe, expect, it } from "vitest";

import type { Report } from "../../attack/report.ts";
import { builtProgram } from "../support/program.ts";

const root = join(import.meta.dirname, "..", "..");

/** `npm run attack` on the run's own build of the program, with room for a machine that runs other tests meanwhile. */
async function attack(...options: string[]): Promise<Report> {
  const how = ["--short", "--roomy", "--json", "--program", builtProgram()];
  const args = ["--import", "tsx", "attack/main.ts", ...how, ...options];
  const child = spawn(process.execPath, args, { cwd: root, stdio: ["ignore", "pipe", "inherit"] });
  const [output] = await Promise.all([text(child.stdout), once(child, "exit")]);
  return JSON.parse(output) as Report;
}

/** What was promised otherwise, by the name of what was tried. */
function brokenBy(tried: { name: string; broken: string[] }[]): Record<string, string[]> {
  return Object.fromEntries(
    tried.filter(({ broken }) => broken.length > 0).map(({ name, broken }) => [name, broken]),
  );
}

describe("a server that is attacked", () => {
  it("answers others meanwhile, comes back, and loses nothing", { timeout: 240_000 }, async () => {
    const { outcomes } = await attack("--part", "load");
    expect(brokenBy(outcomes)).toEqual({});
    expect(outcomes.length).toBeGreaterThan(10);
    for (const { seen, kept, name } of outcomes) {
      expect(seen.probes, name).toBeGreaterThan(10);
      expect(kept.acknowledged, name).toBeGreaterThan(0);
    }
  });

  it("loses nothing when it is killed while it starts", { timeout: 240_000 }, async () => {
    const { endured } = await attack("--only", "kill-start", "kill-migrations", "--cycles", "1");
    expect(brokenBy(endured)).toEqual({});
    for (const { acknowledged, name } of endured) expect(acknowledged, name).toBeGreaterThan(0);
  });
});
