import pg from "pg";

import { guardReading } from "./guarded-reading.ts";
import { createPlanAges } from "./plan-ages.ts";

/** Has the plans of all prepared statements of a connection made anew, those inside of functions with them. */
const discardPlans = "discard plans";

/** The name a query is prepared under; undefined for one that is not prepared. */
function nameOf(query: unknown): string | undefined {
  return typeof query === "object" && query !== null && "name" in query && typeof query.name === "string"
    ? query.name
    : undefined;
}

/**
 * A connection that does not keep plans from when there was little in the tables. PostgreSQL keeps the plan of a prepared
 * statement until it has looked at the tables again, which is a minute at the earliest; with a handful of rows any index is
 * as good as any other, and reads all of an organization once there are more.
 */
export class ReplanningClient extends pg.Client {
  readonly #ages = createPlanAges();

  constructor(config?: pg.ClientConfig & { largestRow?: number | undefined }) {
    super(config);
    guardReading(this, config?.largestRow);
  }

  /** Sends a query as the driver does, and before it, now and then, that plans are to be made anew. */
  override query(...given: unknown[]): never {
    const name = nameOf(given[0]);
    // Fails with the connection or the transaction, which the query itself then tells.
    if (name !== undefined && this.#ages.isOld(name)) super.query(discardPlans, () => {});
    return Reflect.apply(super.query, this, given) as never;
  }
}
