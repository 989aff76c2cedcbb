import { distribute, NotDistributable } from "../db/citus/distribute.ts";
import { withSchema } from "../db/migrate.ts";
import type { CommandDeps } from "./command-deps.ts";
import { CliError, print } from "./output.ts";

/**
 * Runs `waybill admin distribute`: spreads the tables of the database over the nodes of its Citus cluster, once.
 * @throws CliError where that cannot be done.
 */
export async function distributeCommand({ db }: Pick<CommandDeps, "db">): Promise<void> {
  try {
    const { tables } = await withSchema(db.pool, (client) =>
      distribute(client, (name) => print.line(`Moving ${name}`)),
    );
    print.line(`Distributed ${tables.length} tables. Start the servers again.`);
  } catch (error) {
    throw error instanceof NotDistributable ? new CliError(error.message) : error;
  }
}
