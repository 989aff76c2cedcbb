/** Characters of the standard PDF fonts beyond Latin-1: the rest of Windows-1252. */
const beyondLatin1 = "ƒ–—‘’‚“”„†‡•…€‰‹›ˆ™ŒœŠš˜ŸŽž";

// A soft hyphen is in the fonts, but nothing that a reader sees.
const printablePattern = new RegExp(`^[ -~\u00a0-\u00ac\u00ae-\u00ff${beyondLatin1}]$`, "u");

function shown(character: string): string {
  if (printablePattern.test(character)) return character;
  return `[U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}]`;
}

/** How many times `max` the result may be long: a code point takes up to ten characters. */
const maxGrowth = 3;

/**
 * Writes a text as the standard PDF fonts can show it, in one line. A character that they lack, or that is invisible,
 * becomes its code point, `[U+4E2D]`, so that nothing is lost and nothing deceives. Longer texts are cut and marked so.
 * @param max characters; three times as many when code points are among them.
 */
export function pdfText(text: string, max = 500): string {
  const characters = Array.from(
    text
      .slice(0, 4 * max)
      .normalize("NFC")
      .replace(/\s+/gu, " ")
      .trim(),
  );
  const kept: string[] = [];
  let room = maxGrowth * max;
  for (const character of characters.slice(0, max)) {
    const next = shown(character);
    room -= next.length;
    if (room < 0) break;
    kept.push(next);
  }
  const isCut = characters.length > kept.length || text.length > 4 * max;
  return `${kept.join("")}${isCut ? " [cut]" : ""}`;
}
