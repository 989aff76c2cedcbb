/** The header of a form whose boundary consists of nothing that needs thought. */
const formType = /^multipart\/form-data; ?boundary=(?:"([\w'-]{1,70})"|([\w'-]{1,70}))$/;

/** A line of a part's head that changes nothing of how its bytes are read. */
const typeLine = /^content-type: ?[\w.+-]+\/[\w.+-]+(?:; ?charset="?[\w-]+"?)?$/i;

const blankLine = "\r\n\r\n";

/** Says whether the head of a part makes it the field, and no file. */
function isHeadOf(field: string, head: string): boolean {
  const lines = head.split("\r\n");
  const named = lines.filter(
    (line) => line.toLowerCase() === `content-disposition: form-data; name="${field}"`,
  );
  const typed = lines.filter((line) => typeLine.test(line));
  return (
    named.length === 1 &&
    named[0]?.endsWith(`"${field}"`) === true &&
    typed.length <= 1 &&
    named.length + typed.length === lines.length
  );
}

/**
 * Reads a form that has one field and nothing else, and is written as clients write it. Such are nearly all reports, and what
 * reads any form takes many times as long.
 * @param contentType the header of the request.
 * @param field a name of letters, digits and underscores.
 * @returns the bytes of the field, which are a view of `body`; undefined for any other form, right or wrong.
 */
export function readLoneField(
  body: Buffer,
  contentType: string | undefined,
  field: string,
): Buffer | undefined {
  const [, quoted, plain] = formType.exec(contentType ?? "") ?? [];
  const boundary = quoted ?? plain;
  if (boundary === undefined) return undefined;
  const opening = `--${boundary}\r\n`;
  if (body.toString("latin1", 0, opening.length) !== opening) return undefined;
  const headEnd = body.indexOf(blankLine, opening.length, "latin1");
  if (headEnd === -1 || !isHeadOf(field, body.toString("latin1", opening.length, headEnd))) return undefined;
  const begin = headEnd + blankLine.length;
  const closing = `\r\n--${boundary}--`;
  const end = body.indexOf(`\r\n--${boundary}`, begin, "latin1");
  if (end <= begin) return undefined;
  const rest = body.toString("latin1", end);
  return rest === closing || rest === `${closing}\r\n` ? body.subarray(begin, end) : undefined;
}
