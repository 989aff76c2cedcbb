import { transaction } from "../../../db/transaction.ts";
import type { Occurrence } from "../../../domain/notifications/occurrence.ts";
import { longestWatchPause } from "../../../domain/silence.ts";
import type { Timestamp } from "../../../lib/clock.ts";
import type { Deps } from "../../kernel/deps.ts";
import { notify } from "../../notices/notifications/service.ts";
import {
  countOpenSilences,
  insertSilences,
  listSilentOrganizations,
  type SilentRow,
  updateWatch,
} from "./store.ts";

/** Environments noted in one transaction at most. */
const batch = 200;

function occurrenceOf({ id, name, snapshot_count, state }: SilentRow, at: Timestamp): Occurrence {
  return {
    trigger: "ON_SILENT_ENV",
    subject: { kind: "environment", id, name },
    at,
    facts: snapshot_count === null ? {} : { snapshot: { index: snapshot_count, compliant: state } },
  };
}

/** Notes silences of an organization and tells whoever listens. @returns how many there were. */
async function tell(deps: Deps, orgId: string, at: Timestamp): Promise<number> {
  return transaction(deps.db, async (tx) => {
    const silent = await insertSilences(tx, orgId, { at, limit: batch });
    if (silent.length > 0)
      await notify(
        tx,
        orgId,
        silent.map((row) => occurrenceOf(row, at)),
      );
    return silent.length;
  });
}

/** Counts the environments of all organizations whose reporter has been silent for too long. */
export function countSilentEnvironments({ db }: Pick<Deps, "db">): Promise<number> {
  return countOpenSilences(db);
}

/** Notes all silences of an organization. */
async function noticeIn(deps: Deps, org: string, at: Timestamp): Promise<void> {
  let found: number;
  do {
    found = await tell(deps, org, at);
    if (found > 0) deps.log.info({ org, found }, "environments fell silent");
  } while (found === batch);
}

/**
 * Looks for environments that have been silent for too long, notes their silence and tells whoever listens, in the same
 * transaction: once for each silence, however many servers look and however often they are killed. After a break in the
 * watch silence counts from its end. An organization where that fails keeps no other waiting, and is looked at again the next
 * time.
 */
export async function noticeSilence(deps: Deps): Promise<void> {
  const at = deps.clock.now();
  await transaction(deps.db, (tx) => updateWatch(tx, at, longestWatchPause));
  for (const org of await listSilentOrganizations(deps.db, at))
    await noticeIn(deps, org, at).catch((err: unknown) =>
      deps.log.error({ err, org }, "the silence of environments could not be noted"),
    );
}
