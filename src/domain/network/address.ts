/** An IP address as a number of 32 or 128 bits. */
export interface Address {
  bits: 32 | 128;
  value: bigint;
}

function parseV4(text: string): bigint | undefined {
  const parts = text.split(".");
  if (parts.length !== 4) return undefined;
  let value = 0n;
  for (const part of parts) {
    // Leading zeros would be octal to some readers and decimal to others, so nobody may write them.
    if (!/^(?:0|[1-9]\d{0,2})$/.test(part) || Number(part) > 255) return undefined;
    value = (value << 8n) | BigInt(part);
  }
  return value;
}

/** Reads the 16-bit groups of one side of `::`; the last may be an IPv4 address, which is two groups. */
function parseGroups(text: string, mayEndInV4: boolean): bigint[] | undefined {
  if (text === "") return [];
  const groups: bigint[] = [];
  const parts = text.split(":");
  for (const [index, part] of parts.entries()) {
    if (/^[0-9a-f]{1,4}$/i.test(part)) {
      groups.push(BigInt(`0x${part}`));
      continue;
    }
    const v4 = mayEndInV4 && index === parts.length - 1 ? parseV4(part) : undefined;
    if (v4 === undefined) return undefined;
    groups.push(v4 >> 16n, v4 & 0xffffn);
  }
  return groups;
}

function parseV6(text: string): bigint | undefined {
  const [before = "", after, ...more] = text.split("::");
  if (more.length > 0) return undefined;
  const compressed = after !== undefined;
  const head = parseGroups(before, !compressed);
  const tail = compressed ? parseGroups(after, true) : [];
  if (head === undefined || tail === undefined) return undefined;
  const missing = 8 - head.length - tail.length;
  if (compressed ? missing < 1 : missing !== 0) return undefined;
  const groups = [...head, ...Array.from({ length: missing }, () => 0n), ...tail];
  return groups.reduce((value, group) => (value << 16n) | group, 0n);
}

/**
 * Reads an IP address: dotted decimal, or any text form of RFC 4291, section 2.2, without a zone.
 * @returns undefined for everything else. The older forms (`0x7f.1`, `2130706433`, `0177.0.0.1`) are for the URL
 * parser, which turns them into dotted decimal.
 */
export function parseAddress(text: string): Address | undefined {
  if (text.length > 45) return undefined;
  const bits = text.includes(":") ? 128 : 32;
  const value = bits === 128 ? parseV6(text) : parseV4(text);
  return value === undefined ? undefined : { bits, value };
}
