/** Characters of two texts together that are worth comparing by what they say. */
const maxCompared = 512 * 1024;

const token = /[\s]+|"(?:[^"\\]|\\.)*"|[^\s"{}[\],:]+|[{}[\],:]/gy;

/** Reads JSON, which must be valid, into a text that is the same for whatever says the same. */
function normal(text: string): string {
  const tokens = Array.from(text.matchAll(token), ([match]) => match).filter((match) => match.trim() !== "");
  let at = 0;
  const value = (): string => {
    const first = tokens[at]!;
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
    members.sort((left, right) => (left.key < right.key ? -1 : Number(left.key > right.key)));
    return `{${members.map((member) => `${member.key}:${member.value}`).join(",")}}`;
  };
  return value();
}

/**
 * Whether two JSON texts say the same: blanks, escapes and the order of keys do not matter, but numbers do to the digit,
 * so `1.0` is not `1`. Large texts are the same only if they are written alike.
 */
export function saysTheSame(left: string, right: string): boolean {
  if (left === right) return true;
  if (left.length + right.length > maxCompared) return false;
  return normal(left) === normal(right);
}
