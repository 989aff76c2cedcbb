import { findEntry, pathOfText, yamlEntries, type YamlEntry } from "./yaml-places.ts";

/** A mistake in a text, at a line and a column from 1. */
export interface TextProblem {
  line: number;
  column: number;
  message: string;
  /** The part it is in, as the API calls it; empty for the text as a whole. */
  part: string;
}

/** Gives what a mistake in input is, without the input that the API repeats behind it. */
export function withoutInput(message: string): string {
  return message.replace(/ \[input: [\s\S]*\]$/, "");
}

/** Finds the place that a message names in a condition, which begins behind `${{`. */
function placeInCondition(entry: YamlEntry, line: string, message: string): number | undefined {
  const named = /^Invalid expression at line 1, column (\d+): /.exec(message);
  const opening = line.indexOf("${{", entry.indent);
  if (named === null || opening === -1) return undefined;
  const inside = line.slice(opening + 3);
  return opening + 3 + inside.length - inside.trimStart().length + Number(named[1]);
}

function problemOf(part: string, message: string, text: string): TextProblem {
  const words = withoutInput(message);
  const lineOfYaml = /^Invalid YAML: .*\(line (\d+)\)$/s.exec(words)?.[1];
  if (lineOfYaml !== undefined)
    return {
      line: Number(lineOfYaml),
      column: 1,
      message: words.replace(/ \(line \d+\)$/, ""),
      part,
    };
  const entries = yamlEntries(text);
  const entry = entries[findEntry(entries, pathOfText(part)).index ?? -1];
  if (entry === undefined) return { line: 1, column: 1, message: words, part };
  const line = text.split("\n")[entry.line] ?? "";
  const column = placeInCondition(entry, line, words) ?? entry.indent + 1;
  const said = words.replace(/^Invalid expression at line 1, column \d+: /, "");
  return { line: entry.line + 1, column, message: said, part };
}

/**
 * Finds where in a YAML text the mistakes are that the API names, by place in the text.
 * @param errors of an answer with status 400.
 * @param field what the request calls the text: `policy_file`. Mistakes in other fields are not of the text.
 */
export function problemsInText(
  errors: Readonly<Record<string, string>>,
  field: string,
  text: string,
): TextProblem[] {
  return Object.entries(errors)
    .filter(([place]) => place === field || place.startsWith(`${field}.`) || place.startsWith(`${field}[`))
    .map(([place, message]) => problemOf(place.slice(field.length).replace(/^\./, ""), message, text))
    .toSorted((a, b) => a.line - b.line || a.column - b.column);
}
