import type { allowlistEndpoints } from "../../../../contract/allowlists.ts";
import type { Executor } from "../../../../db/connect.ts";
import { inBatches } from "../../../../lib/batches.ts";
import type { CsvHandlers, Handlers } from "../../../kernel/call.ts";
import { findReadableIds } from "../../environments/service.ts";
import { allowArtifact, disallowArtifact } from "./service.ts";
import { type LaterAllowlistRow, listEntries, listEntriesAfter } from "./store.ts";

/** Finds which environments names mean; undefined when none was asked for. */
async function environmentIds(
  db: Executor,
  orgId: string,
  names: readonly string[] | undefined,
): Promise<string[] | undefined> {
  return names && findReadableIds(db, orgId, names);
}

export const allowlistHandlers: Handlers<typeof allowlistEndpoints> = {
  list_allowlist: async ({ db }, { org, query }) => ({
    status: 200,
    body: await listEntries(db, org.id, await environmentIds(db, org.id, query.environment)),
  }),
  allow_artifact_for_env: async (deps, call) => {
    await allowArtifact(deps, call, call.params.env_name, call.body);
    return { status: 201, body: call.body };
  },
  disallow_artifact_for_env: async (deps, call) => {
    await disallowArtifact(deps, call, call.params.env_name, call.params.fingerprint);
    return { status: 200, body: "OK" };
  },
};

/** Entries that are read at a time for CSV. */
const batch = 1000;

export const allowlistCsv: CsvHandlers<typeof allowlistEndpoints> = {
  list_allowlist: async ({ db }, { org, query }) => {
    const ids = await environmentIds(db, org.id, query.environment);
    return inBatches<LaterAllowlistRow>(batch, (after) =>
      db.sliced(() => listEntriesAfter(db, org.id, ids, { after, limit: batch })),
    );
  },
};
