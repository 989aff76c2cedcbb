const numbers = new Intl.NumberFormat("en");

/** Writes a number as people read it: `1,234,567`. */
export function numberWords(number: number): string {
  return numbers.format(number);
}
