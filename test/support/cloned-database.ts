import { inject } from "vitest";

import { createDatabase, dropDatabase, urlOf } from "./databases.ts";
import { withDataDir } from "./server-process.ts";
import { uniqueName } from "./unique-name.ts";

/** Has a database of the run's PostgreSQL that has the schema and nothing else, for the time of `work`, which is told its URL. */
export async function withClonedDatabase<T>(work: (url: string) => Promise<T>): Promise<T> {
  const postgres = inject("postgres");
  const database = uniqueName("waybill_cloned").replaceAll("-", "_");
  await createDatabase(postgres, database, inject("template"));
  try {
    return await work(urlOf(postgres, database));
  } finally {
    await dropDatabase(postgres, database);
  }
}

/** Has what a server needs that does not manage its database: one with the schema and nothing else, and a folder for its files. */
export function withExternalDatabase<T>(work: (url: string, dataDir: string) => Promise<T>): Promise<T> {
  return withClonedDatabase((url) => withDataDir((dataDir) => work(url, dataDir)));
}
