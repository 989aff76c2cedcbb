/** What a semicolon inside of ends nothing: comments, strings, names in quotes, bodies between dollars. */
const opaque =
  /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"|\$([A-Za-z_]\w*|)\$[\s\S]*?\$\1\$|(?<end>;)/g;

const onlyComments = /^(?:\s|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)*$/;

/**
 * Splits what a file of SQL says into its statements, in their order and as they are written, without the semicolons. A text with one
 * after another cannot be sent at once to Citus, which hands it on to its workers with each of them. Knows what our migrations use: no strings with
 * backslashes, no nested comments, no bodies of functions that are not strings.
 */
export function splitStatements(sql: string): string[] {
  const ends = [...sql.matchAll(opaque)].filter(({ groups }) => groups?.["end"] !== undefined);
  const starts = [0, ...ends.map(({ index }) => index + 1)];
  return starts
    .map((start, place) => sql.slice(start, ends[place]?.index))
    .filter((statement) => !onlyComments.test(statement));
}
