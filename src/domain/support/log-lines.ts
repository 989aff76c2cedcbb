import { isJsonObject } from "../../lib/json-object.ts";
import { type KnownText, removed, scrub } from "./scrub.ts";

/** Fields of log lines whose texts the program chooses. */
const plainFields = new Set([
  "code",
  "column",
  "constraint",
  "kind",
  "level",
  "limit",
  "method",
  "operation",
  "outcome",
  "routine",
  "schema",
  "severity",
  "statement",
  "status",
  "syscall",
  "table",
  "task",
  "time",
  "type",
]);
/** Fields whose texts are sentences, in which something else may be quoted. */
const sentenceFields = new Set(["msg", "message", "reqId", "stack"]);
/** Fields with lists of names that the program chooses. */
const listFields = new Set(["changed", "migrations", "need_restart", "statements", "tables"]);
/** Fields with figures. */
const figureFields = new Set([
  "attempt",
  "attempts",
  "authorize_ms",
  "bytes",
  "connection_wait_ms",
  "count",
  "handle_ms",
  "more_statements",
  "ms",
  "next",
  "pid",
  "port",
  "rows",
  "seconds",
  "times",
]);
/** Fields that hold an error. */
const errorFields = new Set(["err", "error", "cause"]);

const quoted = /"(?:[^"\\]|\\.)*"|'[^']*'|`[^`]*`|«[^»]*»/g;
/** What PostgreSQL and Node.js quote that is no data: names of the schema. */
const namesBefore =
  /\b(?:relation|table|index|constraint|column|sequence|function|schema|extension|parameter|type|trigger|tuple)s?\s+$/i;
/** Names of hosts in errors; addresses tell nobody anything. */
const hosts =
  /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|EHOSTUNREACH|altnames:)\s+(?![\d.:]+(?:\s|$))\S+/g;

/** Scrubs a sentence of a log, in which what is quoted may be anybody's data. */
export function scrubSentence(text: string, known: readonly KnownText[]): string {
  const left = text.replaceAll(quoted, (found, at: number) =>
    namesBefore.test(text.slice(Math.max(0, at - 24), at)) && /^.[a-z_][a-z0-9_.]{0,126}.$/.test(found)
      ? found
      : removed,
  );
  return scrub(left.replaceAll(hosts, `$1 ${removed}`), known);
}

const frame = /^(\s+at )(.*)$/;

/** Shows where in the program something happened, without the folders before it and without names that stand there. */
function shownFrame(text: string, known: readonly KnownText[]): string {
  // The last of such folders: what stands before it is the machine's.
  const place =
    /^.*(?:^|[/( ])((?:(?:dist|src|node_modules)\/|node:)[\w@.-]+(?:\/[\w@.-]+)*?:\d+(?::\d+)?)\)?$/.exec(
      text,
    )?.[1];
  const who = /^(?:async )?(?:new )?[\w.$<>#]+(?= \()/.exec(text)?.[0];
  return scrub(`${who ?? ""}${place === undefined ? "" : ` (${place})`}`.trim() || removed, known);
}

/** Scrubs the stack of an error, line by line. */
function scrubStack(stack: string, known: readonly KnownText[]): string {
  return stack
    .split("\n")
    .map((line) => {
      const [, before, text] = frame.exec(line) ?? [];
      return before === undefined || text === undefined
        ? scrubSentence(line, known)
        : `${before}${shownFrame(text, known)}`;
    })
    .join("\n");
}

type Json = Record<string, unknown>;

function shownText(name: string, text: string, known: readonly KnownText[]): string {
  if (name === "stack") return scrubStack(text, known);
  if (sentenceFields.has(name)) return scrubSentence(text, known);
  return (plainFields.has(name) || listFields.has(name)) && /^[\w .:/()-]{1,100}$/.test(text)
    ? scrub(text, known)
    : removed;
}

function shownField(name: string, value: unknown, known: readonly KnownText[]): unknown {
  if (typeof value === "number" || typeof value === "boolean" || value === null) return value;
  if (typeof value === "string") return shownText(name, value, known);
  if (Array.isArray(value) && listFields.has(name))
    return value
      .slice(0, 100)
      .map((each) => (isJsonObject(each) ? shownStatement(each, known) : shownField(name, each, known)));
  return isJsonObject(value) && errorFields.has(name) ? shownFields(value, known) : removed;
}

/** Shows a statement of a slow request, which has the name that the program gave it. */
function shownStatement({ name, ...figures }: Json, known: readonly KnownText[]): Json {
  return { statement: shownField("statement", name, known), ...shownFields(figures, known) };
}

const knownFields = [plainFields, sentenceFields, listFields, figureFields, errorFields];

/** Shows the fields that the program is known to write: the names of others may be data, too. */
function shownFields(fields: Json, known: readonly KnownText[]): Json {
  const shown = Object.entries(fields)
    .filter(([name]) => knownFields.some((names) => names.has(name)))
    .map(([name, value]) => [name, shownField(name, value, known)] as const);
  return Object.fromEntries(shown);
}

const postgres =
  /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)? \S+ \[\d+\](?: \S+)? (?:LOG|INFO|NOTICE|WARNING|ERROR|FATAL|PANIC|DEBUG\d?): {1,2}/;
const failure =
  /^(?:Uncaught )?(?:[A-Za-z]{0,40}(?:Error|Exception)(?: \[[A-Z_]+\])?: |Node\.js v\d|Configuration: )/;

function readObject(text: string): Json | undefined {
  try {
    const read: unknown = JSON.parse(text);
    return isJsonObject(read) ? read : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Scrubs a line of a log. Of lines in JSON, also behind what a log service puts before them, only fields stay that the program fills with
 * words of its own; of PostgreSQL's those without details and statements; of others errors and their places. Of everything else nothing but
 * the length does.
 */
export function scrubLogLine(line: string, known: readonly KnownText[]): string {
  const begin = line.indexOf("{");
  const fields = begin === -1 || !line.trimEnd().endsWith("}") ? undefined : readObject(line.slice(begin));
  if (fields !== undefined) return JSON.stringify(shownFields(fields, known));
  const head = postgres.exec(line)?.[0];
  if (head !== undefined) return head + scrubSentence(line.slice(head.length), known);
  if (frame.test(line)) return scrubStack(line, known);
  if (failure.test(line)) return scrubSentence(line, known);
  return line.trim() === "" ? "" : `[${line.length} characters removed]`;
}
