import type { TestApp } from "./app.ts";

function textOf({ text, name }: { text: string; name?: string }): string {
  return name === undefined ? text : `/* ${name} */ ${text}`;
}

/** A statement with its values. */
interface Statement {
  text: string;
  values: readonly unknown[];
}

/**
 * Lists the statements of the work with their values. The names of prepared ones come first. Answers that are kept from before are
 * not given again.
 */
async function watched(app: TestApp, work: () => Promise<unknown>): Promise<Statement[]> {
  const { pool } = app.deps.db;
  // To have begun a transaction that writes is a change.
  await pool.query("select pg_current_xact_id()");
  const statements: Statement[] = [];
  const clients = new Map<{ query: unknown }, unknown>();
  const watch = (client: { query: unknown }): void => {
    if (clients.has(client)) return;
    const own = client.query as (...args: unknown[]) => unknown;
    clients.set(client, own);
    client.query = function (this: unknown, ...args: unknown[]) {
      const [first] = args as [string | { text: string; name?: string; values?: unknown[] }];
      statements.push(
        typeof first === "string"
          ? { text: first, values: [] }
          : { text: textOf(first), values: first.values ?? [] },
      );
      return own.apply(this, args);
    };
  };
  pool.on("acquire", watch);
  try {
    await work();
  } finally {
    pool.off("acquire", watch);
    for (const [client, own] of clients) client.query = own;
  }
  return statements;
}

/** Measures the longest text that the work sends in one statement, in characters. */
export async function longestValueOf(app: TestApp, work: () => Promise<unknown>): Promise<number> {
  const values = (await watched(app, work)).flatMap((statement) => statement.values);
  return Math.max(0, ...values.map((value) => (typeof value === "string" ? value.length : 0)));
}

/**
 * Statements of the work, without those that begin and end transactions, and that which asks whether anything has changed. The names of prepared ones come
 * first. Answers that are kept from before are not given again.
 */
export async function statementsOf(app: TestApp, work: () => Promise<unknown>): Promise<string[]> {
  const texts = (await watched(app, work)).map(({ text }) => text);
  return texts.filter(
    (text) => !/^(?:begin|commit|start transaction|rollback|\/\* state-of-rows)/i.test(text.trim()),
  );
}

/** Names the statements of the work, as `statementsOf` finds them; undefined for those that are not prepared. */
export async function statementNamesOf(
  app: TestApp,
  work: () => Promise<unknown>,
): Promise<(string | undefined)[]> {
  const statements = await statementsOf(app, work);
  return statements.map((text) => /\/\* (\S+) \*\//.exec(text)?.[1]);
}
