import { present } from "./present.ts";
import { compareUnits } from "./text.ts";

/** Longest two texts together, in characters, that are compared by their meaning. */
const maxCompared = 512 * 1024;

const token = /[\s]+|"(?:[^"\\]|\\.)*"|[^\s"{}[\],:]+|[{}[\],:]/gy;

/** Writes valid JSON in a canonical form: no blanks, escapes normalised, keys sorted. */
function normal(text: string): string {
  const tokens = Array.from(text.matchAll(token), ([match]) => match).filter((match) => match.trim() !== "");
  let at = 0;
  const value = (): string => {
    const first = present(tokens[at], "valid JSON does not end within a value");
    at += 1;
    if (first === "{") return object();
    if (first === "[") return list();
    return first.startsWith('"') ? JSON.stringify(JSON.parse(first)) : first;
  };
  const list = (): string => {
    const items: string[] = [];
    for (; tokens[at] !== "]"; at += tokens[at] === "," ? 1 : 0) items.push(value());
    at += 1;
    return `[${items.join(",")}]`;
  };
  const object = (): string => {
    const members: { key: string; value: string }[] = [];
    for (; tokens[at] !== "}"; at += tokens[at] === "," ? 1 : 0) {
      const key = value();
      at += 1;
      members.push({ key, value: value() });
    }
    at += 1;
    // Members of one name stay in their order: which of them counts is the reader's business.
    members.sort((left, right) => compareUnits(left.key, right.key));
    return `{${members.map((member) => `${member.key}:${member.value}`).join(",")}}`;
  };
  return value();
}

/**
 * Says whether two JSON texts mean the same. Blanks, escapes and the order of keys do not matter, but numbers do to the
 * digit: `1.0` is not `1`. Large texts are the same only if they are written alike.
 */
export function saysTheSame(left: string, right: string): boolean {
  if (left === right) return true;
  if (left.length + right.length > maxCompared) return false;
  return normal(left) === normal(right);
}
