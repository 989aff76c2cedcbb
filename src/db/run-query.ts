import type pg from "pg";

interface Runner {
  query(
    config: pg.QueryConfig<unknown[]>,
    callback: (error: Error | null | undefined, result: pg.QueryResult) => void,
  ): void;
}

/**
 * Runs a query on a client or a pool. The promise the driver itself makes keeps its result from being collected young: each
 * is moved to the old part of the heap first, which with large results costs more than all the rest.
 */
export async function runQuery(runner: Runner, config: pg.QueryConfig<unknown[]>): Promise<pg.QueryResult> {
  try {
    return await new Promise<pg.QueryResult>((resolve, reject) => {
      runner.query(config, (error, result) => {
        if (error === null || error === undefined) resolve(result);
        else reject(error);
      });
    });
  } catch (error) {
    // Says where in the program the query came from, not where in the driver its answer was read.
    if (error instanceof Error) Error.captureStackTrace(error);
    throw error;
  }
}
