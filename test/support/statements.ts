import type { TestApp } from "./app.ts";

function textOf({ text, name }: { text: string; name?: string }): string {
  return name === undefined ? text : `/* ${name} */ ${text}`;
}

/**
 * Statements of the work, without those that begin and end transactions, and that which asks whether anything has changed. The names of prepared ones come
 * first. Answers that are kept from before are not given again.
 */
export async function statementsOf(app: TestApp, work: () => Promise<unknown>): Promise<string[]> {
  const { pool } = app.deps.db;
  // To have begun a transaction that writes is a change.
  await pool.query("select pg_current_xact_id()");
  const texts: string[] = [];
  const watched = new Map<{ query: unknown }, unknown>();
  const watch = (client: { query: unknown }): void => {
    if (watched.has(client)) return;
    const own = client.query as (...args: unknown[]) => unknown;
    watched.set(client, own);
    client.query = function (this: unknown, ...args: unknown[]) {
      const [first] = args as [string | { text: string; name?: string }];
      texts.push(typeof first === "string" ? first : textOf(first));
      return own.apply(this, args);
    };
  };
  pool.on("acquire", watch);
  try {
    await work();
  } finally {
    pool.off("acquire", watch);
    for (const [client, own] of watched) client.query = own;
  }
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
