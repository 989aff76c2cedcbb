import { appendFileSync } from "node:fs";

import { inject } from "vitest";

const noted = new Set<string>();

/** Writes down which operation answered with which status, for the check at the end of the run. */
export function noteCoverage(operation: string, status: number): void {
  const line = `${operation} ${status}\n`;
  if (noted.has(line)) return;
  noted.add(line);
  appendFileSync(inject("coverageFile"), line);
}
