import type { Tx } from "./connect.ts";
import { createExecutor, type Sent } from "./executor.ts";

class Captured extends Error {}

/** Finds the statement that a function would run under a name; nothing is sent. Undefined when it runs another one before it, or none. */
export async function captureStatement(
  name: string,
  ask: (db: Tx) => Promise<unknown>,
): Promise<Sent | undefined> {
  let found: Sent | undefined;
  const executor = createExecutor({
    checkRows: false,
    send: (sent) => {
      found ??= sent;
      return Promise.reject(new Captured("not sent"));
    },
  });
  await ask({ ...executor, send: () => {} }).catch((error: unknown) => {
    if (!(error instanceof Captured)) throw error;
  });
  return found?.name === name ? found : undefined;
}
