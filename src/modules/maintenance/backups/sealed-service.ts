import { replaceSecretKey } from "../../../db/secret-key.ts";
import { transaction } from "../../../db/transaction.ts";
import type { TargetType } from "../../../domain/actions.ts";
import { type BackupTable, tableKey } from "../../../domain/backup-format.ts";
import { listLost, type LostSecret, type SealedRows } from "../../../domain/lost-secrets.ts";
import type { Actor } from "../../../domain/principal.ts";
import { type CopiedRow, readBinaryCopy } from "../../../lib/binary-copy.ts";
import { appendInstanceEntry, recorded } from "../../kernel/audit/service.ts";
import type { Deps } from "../../kernel/deps.ts";
import { type ReadBackup, readBackup } from "./read-service.ts";
import {
  countSealedIntegrations,
  countSealedSessions,
  forgetAddresses,
  forgetIdTokens,
  forgetIntegrationSecret,
  listSealedActions,
  listSealingOrganizations,
} from "./sealed-store.ts";

/** Rows while they are gathered. */
interface Gathered extends SealedRows {
  organizations: Map<string, string>;
  actions: { org_id: string; number: number; name: string; targets: TargetType[] }[];
  integrations: string[];
}

const nothing = (): Gathered => ({ organizations: new Map(), actions: [], integrations: [], sessions: 0 });

/** Columns of a row by name, as the binary copy format has them. */
type Values = (column: string) => Buffer | null;

function uuidOf(bytes: Buffer | null): string {
  const hex = bytes?.toString("hex") ?? "";
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

const textOf = (bytes: Buffer | null): string => bytes?.toString("utf8") ?? "";

/** Reads a `jsonb`, which a byte with its version stands before. */
function targetsOf(bytes: Buffer | null): TargetType[] {
  const targets = JSON.parse(bytes?.toString("utf8", 1) ?? "[]") as { type: TargetType }[];
  return targets.map(({ type }) => type);
}

/** What is taken of the rows of a table. */
const takers: Readonly<Record<string, (rows: Gathered, value: Values) => void>> = {
  "public.organizations": (rows, value) =>
    void rows.organizations.set(uuidOf(value("id")), textOf(value("name"))),
  "public.actions": (rows, value) => {
    if (value("target_secrets") === null) return;
    rows.actions.push({
      org_id: uuidOf(value("org_id")),
      number: value("number")?.readInt32BE() ?? 0,
      name: textOf(value("name")),
      targets: targetsOf(value("targets")),
    });
  },
  "public.quality_integrations": (rows, value) => {
    if (value("secret") !== null) rows.integrations.push(uuidOf(value("org_id")));
  },
  "public.sessions": (rows, value) => {
    if (value("id_token") !== null) rows.sessions += 1;
  },
};

function readerOf(table: BackupTable, rows: Gathered): ((piece: Buffer) => void) | undefined {
  const take = takers[tableKey(table)];
  const places = new Map(table.columns.map((column, place) => [column, place]));
  return (
    take && readBinaryCopy((row: CopiedRow) => take(rows, (column) => row[places.get(column) ?? -1] ?? null))
  );
}

function flat({ organizations, others }: ReturnType<typeof listLost>): LostSecret[] {
  return [...organizations.flatMap(({ lost }) => lost), ...others];
}

/**
 * Reads a whole portable backup, compares every byte with what was written, and lists what would not work without the key that it was
 * made with.
 * @throws DamagedArchive when it is not what was written.
 */
export async function readWithLost(
  source: AsyncIterable<Buffer>,
): Promise<{ read: ReadBackup; lost: LostSecret[] }> {
  const rows = nothing();
  const readers = new Map<string, (piece: Buffer) => void>();
  const read = await readBackup(source, {
    head: async ({ tables }) => {
      for (const table of tables) {
        const reader = readerOf(table, rows);
        if (reader !== undefined) readers.set(tableKey(table), reader);
      }
    },
    part: async (table, bytes) => readers.get(table)?.(bytes),
  });
  return { read, lost: flat(listLost(rows)) };
}

/** Reads what is sealed in a database. */
async function readSealed({ db }: Pick<Deps, "db">): Promise<SealedRows> {
  const rows = nothing();
  for (const { id, name } of await listSealingOrganizations(db)) {
    rows.organizations.set(id, name);
    rows.actions.push(...(await listSealedActions(db, id)));
    if ((await countSealedIntegrations(db, id)) > 0) rows.integrations.push(id);
  }
  rows.sessions = await countSealedSessions(db);
  return rows;
}

/**
 * Removes from a database that nobody works with all that was sealed with a key that is no more, and says so in the logs of the
 * organizations and of the instance. What stood with it stays.
 * @param fingerprint of the key that is to seal from now on; undefined for that of the first server.
 * @returns what was lost.
 */
export async function forgetSecrets(
  deps: Pick<Deps, "db" | "clock">,
  actor: Actor,
  fingerprint: string | undefined,
): Promise<LostSecret[]> {
  const rows = await readSealed(deps);
  const lost = listLost(rows);
  const recordedLost = new Map(lost.organizations.map((each) => [each.org_id, each.lost]));
  for (const id of rows.organizations.keys())
    await recorded(deps, { org: { id }, actor }, async (tx, record) => {
      await forgetAddresses(tx, id, deps.clock.now());
      await forgetIntegrationSecret(tx, id);
      for (const { kind, resource } of recordedLost.get(id) ?? []) record(kind, resource);
    });
  await transaction(deps.db, async (tx) => {
    await forgetIdTokens(tx);
    await replaceSecretKey(tx, fingerprint);
    const count = (kind: LostSecret["kind"]): number =>
      lost.organizations.flatMap((each) => each.lost).filter((each) => each.kind === kind).length;
    appendInstanceEntry(deps, tx, {
      actor,
      action: "secrets_forgotten",
      resource_type: "secret_key",
      resource: "instance",
      details: {
        organizations: lost.organizations.map(({ lost: [first] }) => first?.org ?? "").slice(0, mostNamed),
        actions: count("action"),
        integrations: count("integration"),
        signing_secrets: count("signing_secret"),
        sessions: rows.sessions,
      },
    });
  });
  return flat(lost);
}

/** Organizations that the log of the instance names. */
const mostNamed = 100;
