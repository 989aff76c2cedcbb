import { type KnownText, removed, scrub } from "./scrub.ts";

/** Labels whose values the program chooses. */
const ownLabels = new Set([
  "days",
  "gc",
  "kind",
  "le",
  "limit",
  "major",
  "method",
  "minor",
  "node",
  "of",
  "operation",
  "outcome",
  "patch",
  "quantile",
  "queue",
  "reason",
  "space",
  "state",
  "status",
  "table",
  "task",
  "type",
  "version",
]);

const label = /([a-z_][a-z0-9_]*)="((?:[^"\\]|\\.)*)"/gi;
const line = /^([a-z_:][a-z0-9_:]*)(?:\{(.*)\})? (-?[\d.]+(?:e[+-]?\d+)?|[+-]?Inf|NaN)$/i;

/** Leaves of metrics in Prometheus' text format the figures, with those labels that say nothing of organizations and targets. */
export function shownMetrics(text: string, known: readonly KnownText[]): string {
  const shown = text.split("\n").map((each) => {
    if (each === "") return each;
    if (/^# (?:HELP|TYPE) [a-z0-9_:]+ /i.test(each)) return scrub(each, known);
    const [, name, labels, value] = line.exec(each) ?? [];
    if (name === undefined || value === undefined) return removed;
    const kept = labels?.replaceAll(label, (_, key: string, given: string) => {
      const isOwn = ownLabels.has(key) || (key === "target" && /^(?:WEBHOOK|SLACK|EMAIL)$/.test(given));
      return `${key}="${isOwn && /^[\w .:+/-]{0,80}$/.test(given) ? scrub(given, known) : removed}"`;
    });
    return `${name}${kept === undefined ? "" : `{${kept}}`} ${value}`;
  });
  return shown.join("\n");
}
