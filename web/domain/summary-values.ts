/** A step of a path: a key, or a place in a list. */
type Step = string | number;

/** How long an expression may be that is read here. */
const longest = 500;

const stepPattern = /\.(?:([A-Za-z_]\w*)|"([^"\\]*)")|\.?\["([^"\\]*)"\]|\.?\[(-?\d{1,9})\]/y;

/** Reads a path: `.a.b["c"][0]`. Undefined for anything else. */
function pathIn(expression: string): Step[] | undefined {
  if (expression === ".") return [];
  if (!expression.startsWith(".")) return undefined;
  const steps: Step[] = [];
  for (let at = 0; at < expression.length; at = stepPattern.lastIndex) {
    stepPattern.lastIndex = at;
    const found = stepPattern.exec(expression);
    if (found === null) return undefined;
    const [, name, quoted, bracketed, index] = found;
    steps.push(index === undefined ? (name ?? quoted ?? bracketed ?? "") : Number(index));
  }
  return steps;
}

/** What stands at a path: null where the data have nothing, undefined where going on is a mistake. */
function valueAt(data: unknown, steps: readonly Step[]): unknown {
  let value: unknown = data;
  for (const step of steps) {
    if (value === null) continue;
    if (Array.isArray(value) && typeof step === "number") value = value.at(step) ?? null;
    else if (typeof value === "object" && !Array.isArray(value) && typeof step === "string")
      value = Object.entries(value).find(([key]) => key === step)?.[1] ?? null;
    else return undefined;
  }
  return value;
}

const partPattern = /\\\(([^()"\\]*)\)|([^"\\]+)/y;

/** Reads a text with values in it: `"\(.lines) %"`. */
function textWithValues(expression: string, data: unknown): string | undefined {
  const inside = expression.slice(1, -1);
  let written = "";
  for (let at = 0; at < inside.length; at = partPattern.lastIndex) {
    partPattern.lastIndex = at;
    const found = partPattern.exec(inside);
    if (found === null) return undefined;
    const [, path, plain] = found;
    const steps = path === undefined ? [] : pathIn(path.trim());
    const value = steps === undefined ? undefined : valueAt(data, steps);
    if (path !== undefined && value === undefined) return undefined;
    written += plain ?? (typeof value === "string" ? value : JSON.stringify(value));
  }
  return written;
}

/**
 * Works out an expression of a summary: paths, and texts with paths in them, which is what most are. The server runs the whole of jq, but
 * only for those who may try types.
 * @returns undefined for other expressions, and for those that make a mistake on these data.
 */
export function summaryValue(expression: string, data: unknown): unknown {
  const written = expression.trim();
  if (written.length > longest) return undefined;
  if (/^"[\s\S]*"$/.test(written) && written.length > 1) return textWithValues(written, data);
  const steps = pathIn(written);
  return steps === undefined ? undefined : valueAt(data, steps);
}
