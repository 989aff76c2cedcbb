import type { Flow } from "../data/flows.ts";
import { type Repo, repos } from "../data/repos.ts";

/** Finds the repo that a flow builds from. */
export function repoOf(flow: Flow): Repo {
  const found = repos.find((candidate) => candidate.name === flow.repo);
  if (found === undefined) throw new Error(`Flow ${flow.name} has no repo`);
  return found;
}

/** Gives the namespaces that a repo's name begins with, the outermost first. */
export function namespaceOf(name: string): string[] {
  return name.split("/").slice(0, -1);
}

/** Writes the flow's template: a passed quality check for each run, and the artifacts that come out. */
export function templateOf(flow: Flow): string {
  const lines = ["version: 1", "trail:", "  attestations:", "    - name: sonar", "      type: sonar"];
  if (flow.components.length > 0) lines.push("  artifacts:");
  for (const component of flow.components) lines.push(`    - name: ${component.name}`);
  return `${lines.join("\n")}\n`;
}
