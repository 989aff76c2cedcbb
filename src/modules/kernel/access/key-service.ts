import type { Executor, Tx } from "../../../db/connect.ts";
import { invalid, invalidInput, notFound } from "../../../domain/errors.ts";
import type { Role } from "../../../domain/roles.ts";
import { sha256 } from "../../../lib/hash.ts";
import { parseWireId, wireId } from "../../../lib/ids.ts";
import { createToken } from "../../../lib/token.ts";
import type { Deps } from "../deps.ts";
import {
  type KeyMaker,
  networksOfNewKey,
  requireNarrowerKey,
  requireWholeKeyOfOwn,
} from "./limits-service.ts";
import { endOfNewKey, readNetworks } from "./rules-service.ts";
import {
  type ApiKeyRow,
  findActiveKey,
  insertApiKey,
  insertFormerSecret,
  type KeyOwner,
  listActiveKeys,
  lockActiveKey,
  updateRevokedKey,
  updateRevokedKeys,
  updateRotatedKey,
} from "./key-store.ts";
import { updateSessionEnds } from "./session-store.ts";

export type { KeyOwner } from "./key-store.ts";

/** A key as the API shows it: 0 for what never happens or never happened; rotation, limits and deadline only where there are such. */
export interface ShownKey {
  id: string;
  description: string;
  created_at: number;
  expires_at: number;
  last_used_at: number;
  rotated_at?: number;
  grace_period_expires_at?: number;
  role?: Role;
  allowed_addresses?: string[];
  deadline_at?: number;
}

/** A new key, this once with its value. */
export interface IssuedKey {
  id: string;
  key: string;
  description: string;
  created_at: number;
  expires_at: number;
  role?: Role;
  allowed_addresses?: string[];
}

type KeyDeps = Pick<Deps, "clock" | "ids">;

/** Gives what a key may less than its owner, where it does. */
function limitsOf({ role, allowed_addresses }: Pick<ApiKeyRow, "role" | "allowed_addresses">) {
  return { ...(role === null ? {} : { role }), ...(allowed_addresses === null ? {} : { allowed_addresses }) };
}

function show(row: ApiKeyRow): ShownKey {
  return {
    id: wireId(row.id),
    description: row.description,
    created_at: row.created_at,
    expires_at: row.expires_at ?? 0,
    last_used_at: row.last_used_at ?? 0,
    ...(row.rotated_at === null ? {} : { rotated_at: row.rotated_at }),
    ...(row.grace_period_expires_at === null ? {} : { grace_period_expires_at: row.grace_period_expires_at }),
    ...limitsOf(row),
    ...(row.deadline_at === null ? {} : { deadline_at: row.deadline_at }),
  };
}

/** Makes the value of a key: 256 random bits. The beginning tells scanners for leaked secrets what they found. */
export function createKeyValue(): string {
  return `wb_${createToken()}`;
}

/** Reads when a key is to end; null for never, which 0 says too. @throws AppError invalid for a time that is past. */
function expiryOf(given: number | null | undefined, now: number): number | null {
  if (given === undefined || given === null || given === 0) return null;
  if (given <= now)
    throw invalidInput({ expires_at: `Input should be a time in the future [input: ${given}]` });
  return given;
}

export interface KeyInput {
  description: string;
  /** Unix seconds; 0, null or nothing for never. */
  expires_at?: number | null | undefined;
  /** Who makes it, as records name them. */
  created_by_name: string;
  /** The most it may in any organization; null or nothing for as much as its owner. */
  role?: Role | null | undefined;
  /** Networks in CIDR notation that it works from; null or nothing for everywhere, or for those of the caller's own key. */
  allowed_addresses?: readonly string[] | null | undefined;
  /** A value brought from elsewhere; a fresh random one unless given. */
  value?: string;
}

/** Whose keys are made, replaced or ended, and by whom. */
interface KeyScope {
  owner: KeyOwner;
  by: KeyMaker;
}

/**
 * Makes a key for this owner. Its value can be read from the result and nowhere else, ever. It is for no more networks than the key by which the
 * caller came.
 * @throws AppError forbidden for another key of the caller's own where theirs is for less, invalid for an end that is past or that rules do not allow,
 * and for networks that are none, or beyond the caller's own.
 */
export async function issueKey(deps: KeyDeps, tx: Tx, request: KeyInput & KeyScope) {
  requireWholeKeyOfOwn(request.by, request.owner);
  const created_at = deps.clock.now();
  const asked = expiryOf(request.expires_at, created_at);
  const expires_at = await endOfNewKey(tx, request.owner, { asked, now: created_at });
  const asked_addresses = readNetworks(request.allowed_addresses);
  const allowed_addresses = await networksOfNewKey(tx, request.by, asked_addresses);
  const limits = { role: request.role ?? null, allowed_addresses };
  const id = deps.ids.next();
  const key = request.value ?? createKeyValue();
  const { owner, description, created_by_name } = request;
  const fresh = await insertApiKey(tx, {
    id,
    key_hash: sha256(key),
    owner,
    description,
    created_at,
    created_by_name,
    expires_at,
    ...limits,
  });
  // Only a value brought from elsewhere can be known already.
  if (!fresh) throw invalid("A key with this value already exists");
  const issued = { id: wireId(id), key, description, created_at, expires_at: expires_at ?? 0 };
  return { ...issued, ...limitsOf(limits) } satisfies IssuedKey;
}

const keyNotFound = (): Error => notFound("API key not found");

/** Lists the owner's working keys, oldest first. */
export async function listKeys(
  deps: Pick<Deps, "clock">,
  db: Executor,
  owner: KeyOwner,
): Promise<ShownKey[]> {
  return (await listActiveKeys(db, owner, deps.clock.now())).map(show);
}

/** Finds one key. @throws AppError not_found for one that does not work, or is not the owner's (interface spec 4.3). */
export async function getKey(
  deps: Pick<Deps, "clock" | "db">,
  owner: KeyOwner,
  wireKeyId: string,
): Promise<ShownKey> {
  const id = parseWireId(wireKeyId);
  const row = id === undefined ? undefined : await findActiveKey(deps.db, owner, id, deps.clock.now());
  if (row === undefined) throw keyNotFound();
  return show(row);
}

export interface Rotation {
  key_id: string;
  grace_period_hours: number;
  /** Unix seconds; 0 for never, null or nothing for the end that the key has. */
  expires_at?: number | null | undefined;
}

/**
 * Gives a working key another secret; its id and everything else stay. The secret it had works for the grace period
 * more, though never longer than it would have without. So do those it had before, if their own grace has not ended, and the
 * sessions that were begun with any of them.
 * @throws AppError forbidden where the key by which the caller came is for less, not_found when there is no such working key, invalid for an end that
 * is past or that rules do not allow, and for none where they ended the key for that.
 */
export async function rotateKey(deps: KeyDeps, tx: Tx, rotation: Rotation & KeyScope) {
  const id = parseWireId(rotation.key_id);
  requireWholeKeyOfOwn(rotation.by, rotation.owner, id);
  const at = deps.clock.now();
  const key = id === undefined ? undefined : await lockActiveKey(tx, rotation.owner, id, at);
  if (key === undefined) throw keyNotFound();
  await requireNarrowerKey(tx, rotation.by, key.allowed_addresses);
  const given = rotation.expires_at ?? undefined;
  const expires_at =
    given === undefined
      ? key.expires_at
      : await endOfNewKey(tx, rotation.owner, { asked: expiryOf(given, at), now: at });
  const grace = at + rotation.grace_period_hours * 3600;
  const end = Math.min(grace, key.ends_at ?? grace, expires_at ?? grace);
  const value = createKeyValue();
  await insertFormerSecret(tx, key, { at, end });
  await updateSessionEnds(tx, key.id, end);
  const rotated = await updateRotatedKey(tx, key.id, { key_hash: sha256(value), expires_at, at, end });
  // A new secret makes a key young, but gives it no end where rules want one.
  if (rotated.deadline_at !== null && rotated.deadline_at <= at)
    throw invalidInput({ expires_at: "Keys must have an expiry [input: None]" });
  return {
    id: wireId(rotated.id),
    key: value,
    description: rotated.description,
    created_at: rotated.created_at,
    expires_at: rotated.expires_at ?? 0,
    grace_period_expires_at: rotated.grace_period_expires_at ?? end,
  } satisfies IssuedKey & { grace_period_expires_at: number };
}

/**
 * Ends a key at once.
 * @throws AppError forbidden for another key of the caller's own where theirs is for less, not_found when there is no such working key.
 */
export async function revokeKey(deps: KeyDeps, tx: Tx, key: KeyScope & { key_id: string }): Promise<void> {
  const id = parseWireId(key.key_id);
  requireWholeKeyOfOwn(key.by, key.owner, id);
  const revoked = id !== undefined && (await updateRevokedKey(tx, key.owner, id, deps.clock.now()));
  if (!revoked) throw keyNotFound();
}

/** Ends every key of an owner at once. */
export function revokeAllKeys(deps: KeyDeps, tx: Tx, owner: KeyOwner): Promise<void> {
  return updateRevokedKeys(tx, owner, deps.clock.now());
}
