import { clientCommandOf } from "./client-commands.ts";
import { type Command, type CommandPlace, continued, filePart, quoted } from "./commands.ts";
import { type Asking, type FormPart, methodOf, requestPath } from "./requests.ts";

/** A command for each program, and what is sent, as JSON; undefined when nothing is. */
export interface RequestCommand extends Command {
  json: string | undefined;
}

function jsonIn(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}

/** Reads what a form says: its files as texts, its fields as the JSON that they hold. */
function formJson(parts: readonly FormPart[]): Record<string, unknown> {
  return Object.fromEntries(
    parts.map(({ name, text, file }) => [name, file === undefined ? (jsonIn(text) ?? text) : text]),
  );
}

function curlBody(body: unknown, parts: readonly FormPart[] | undefined): string[] {
  if (parts !== undefined)
    return parts.map(({ name, text, file }) =>
      file === undefined ? `--form-string ${quoted(`${name}=${text}`)}` : filePart(name, file, text),
    );
  if (body === undefined) return [];
  return ["-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(body))}`];
}

/**
 * Writes a request as commands.
 * @param parts of the form that is sent; undefined when none is.
 */
export function requestCommand(
  place: CommandPlace,
  asking: Asking,
  parts?: readonly FormPart[],
): RequestCommand {
  const method = methodOf(asking.operation);
  const body = parts === undefined ? asking.input.body : undefined;
  const sent = parts === undefined ? body : formJson(parts);
  // The first field that holds JSON is what the request is about; files come beside it.
  const said =
    parts === undefined
      ? body
      : parts
          .map(({ text, file }) => (file === undefined ? jsonIn(text) : undefined))
          .find((one) => one !== undefined);
  return {
    curl: continued([
      `curl -sS ${method === "GET" ? "" : `-X ${method} `}${quoted(`${place.server}/api/v2${requestPath(asking)}`)}`,
      '-H "Authorization: Bearer $WAYBILL_KEY"',
      ...curlBody(body, parts),
    ]),
    client: clientCommandOf(place, asking, said, parts),
    json: sent === undefined ? undefined : JSON.stringify(sent, null, 2),
  };
}
