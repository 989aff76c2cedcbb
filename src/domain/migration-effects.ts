/** What a migration says of itself, in lines such as `-- waybill: rewrites`. */
export interface MigrationMarks {
  /** Writes tables anew, or keeps others from them, for as long as their rows take. */
  rewrites: boolean;
  /** Leaves a schema that the version before cannot work with. */
  contracts: boolean;
}

const markLine = /^-- waybill: (\w+)[ \t]*\r?\n/gm;

/** Reads the marks of a migration. @throws Error for a mark that means nothing. */
export function readMarks(sql: string): MigrationMarks {
  const words = [...sql.matchAll(markLine)].map(([, word]) => word);
  const unknown = words.find((word) => word !== "rewrites" && word !== "contracts");
  if (unknown !== undefined) throw new Error(`A migration cannot be marked ${unknown}`);
  return { rewrites: words.includes("rewrites"), contracts: words.includes("contracts") };
}

/** Leaves the marks out of a migration: they change nothing about what it does. */
export function withoutMarks(sql: string): string {
  return sql.replaceAll(markLine, "");
}

/** The tables that grow with every report: everything else has some thousands of rows in the largest installations. */
export const growingTables: readonly string[] = [
  "artifacts",
  "attestation_heads",
  "attestations",
  "audit_log",
  "builds",
  "evidence",
  "notification_deliveries",
  "quality_deliveries",
  "repo_versions",
  "search_words",
  "snapshot_artifacts",
  "snapshot_decisions",
  "snapshot_documents",
  "snapshots",
  "trail_compliance",
  "trail_events",
  "trail_outcomes",
  "trails",
];

/** Something a migration does that takes as long as the rows of a table. */
export interface MigrationEffect {
  table: string;
  /** Such as "writes the table anew". */
  what: string;
}

/** Parts of a statement that are no SQL of its own: comments, strings, bodies of functions. */
const opaque = /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|\$(\w*)\$[\s\S]*?\$\1\$/g;

/** Bodies of `do` run with the migration; those of functions do not. */
const doBody = /(?:^|;)\s*do\s+(?:language\s+\w+\s+)?\$(\w*)\$([\s\S]*?)\$\1\$/gi;

/** What stands before statements in such a body. */
const blocks = /\b(?:begin|loop|then|else|end)\b/gi;

const comments = /--[^\n]*/g;

/** Splits a migration into statements, in lower case, with one blank for any space and no strings. */
function statementsOf(sql: string): string[] {
  const plain = sql.replaceAll(comments, "");
  const bodies = [...plain.matchAll(doBody)].map(([, , body]) => (body ?? "").replaceAll(blocks, ";"));
  return [plain.replaceAll(opaque, " ''"), ...bodies.map((body) => body.replaceAll(opaque, " ''"))]
    .flatMap((text) => text.split(";"))
    .map((statement) => statement.toLowerCase().replaceAll(/\s+/g, " ").trim())
    .filter((statement) => statement !== "");
}

const nameOf = (text: string | undefined): string =>
  (text ?? "").replace(/^public\./, "").replaceAll('"', "");

/** Parts of `alter table` that read or write every row, and what to say of them. */
const alterations: readonly [RegExp, string][] = [
  [/alter (?:column )?\w+ (?:set data )?type /, "writes the table anew"],
  [/add (?:column )?(?:if not exists )?\w+ [^,]*\bgenerated always as/, "writes the table anew"],
  [
    /add (?:column )?(?:if not exists )?\w+ [^,]*(?:serial\b|\bdefault (?:gen_random_uuid|random|clock_timestamp|nextval))/,
    "writes the table anew",
  ],
  [/set (?:un)?logged|set tablespace|set access method/, "writes the table anew"],
  [/alter (?:column )?\w+ set not null/, "reads the table while nobody may write it"],
];

const constraint = /add (?:constraint \w+ )?(?:check|foreign key|unique|primary key|exclude)\b/;

function alteration(statement: string): MigrationEffect[] {
  const [, name, rest = ""] = /^alter table (?:if exists )?(?:only )?([\w."]+) (.*)$/.exec(statement) ?? [];
  if (name === undefined) return [];
  const table = nameOf(name);
  const found = alterations.filter(([pattern]) => pattern.test(rest)).map(([, what]) => ({ table, what }));
  if (constraint.test(rest) && !rest.includes("not valid") && !rest.includes("using index"))
    found.push({ table, what: "checks every row while nobody may write it" });
  return found;
}

function indexing(statement: string): MigrationEffect[] {
  const [, concurrently, name] =
    /^create (?:unique )?index (concurrently )?.*?\bon (?:only )?([\w."]+)/.exec(statement) ?? [];
  if (name === undefined || concurrently !== undefined) return [];
  return [{ table: nameOf(name), what: "makes an index while nobody may write it" }];
}

const writing = /^(?:with\b.*?\b)?(?:update (?:only )?|delete from (?:only )?)([\w."]+)/;
const copying =
  /^(?:with\b.*|insert into\b.*\bselect\b|create (?:temp |temporary |unlogged )?table\b.*\bas\b)/;

/** Rows that are changed, and tables whose rows make others. */
function moving(statement: string): MigrationEffect[] {
  const [, changed] = writing.exec(statement) ?? [];
  const found = changed === undefined ? [] : [{ table: nameOf(changed), what: "changes rows" }];
  if (!copying.test(statement) && changed === undefined) return found;
  for (const [, source] of statement.matchAll(/\b(?:from|join) (?:only )?([\w."]+)/g))
    found.push({ table: nameOf(source), what: "reads every row" });
  return found;
}

function locking(statement: string): MigrationEffect[] {
  const [, name] = /^(?:lock table|cluster|vacuum full) (?:only )?([\w."]+)/.exec(statement) ?? [];
  return name === undefined ? [] : [{ table: nameOf(name), what: "locks the table" }];
}

/**
 * Tells which of the tables that grow with reports a migration writes, reads or locks for as long as their rows take, as far as its
 * statements show: what functions do that it calls is not seen. Tables it makes itself are empty and do not count.
 */
export function effectsOf(sql: string): MigrationEffect[] {
  const statements = statementsOf(sql);
  const made = new Set(
    statements.map((each) =>
      nameOf(/^create (?:temp |temporary |unlogged )?table (?:if not exists )?([\w."]+)/.exec(each)?.[1]),
    ),
  );
  const all = statements.flatMap((each) => [
    ...alteration(each),
    ...indexing(each),
    ...moving(each),
    ...locking(each),
  ]);
  const seen = new Set<string>();
  return all.filter(({ table, what }) => {
    const key = `${table} ${what}`;
    if (made.has(table) || !growingTables.includes(table) || seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}
