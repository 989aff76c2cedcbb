import type { Tx } from "../../../db/connect.ts";
import { type AppError, forbidden, invalidInput } from "../../../domain/errors.ts";
import type { Principal } from "../../../domain/principal.ts";
import { present } from "../../../lib/present.ts";
import { getKeyNetworks, type KeyOwner } from "./key-store.ts";

/** Who makes, replaces or ends keys, or takes what keys act by: a caller; undefined for those who run the installation from its command line, whom no key limits. */
export type KeyMaker = Principal | undefined;

const refusal = (): AppError => forbidden("A key that is for less than its owner cannot do this");

/**
 * Refuses a caller whose own key works from some networks alone, where somebody would be let in who may come from anywhere.
 * @throws AppError forbidden.
 */
export function requireUnboundKey({ limits }: Principal): void {
  if (limits.is_bound) throw refusal();
}

const idOf = (owner: KeyOwner): string => ("user_id" in owner ? owner.user_id : owner.service_account_id);

/**
 * Holds that a key for less than its owner neither makes nor ends the owner's other keys, nor changes what they may. Its own secret it may
 * replace, which is for as little as it was, and itself it may end. Asked, too, before an owner's account, membership or role is taken.
 * @param keyId what is replaced or ended; left out for a new key, and for all of them.
 * @throws AppError forbidden.
 */
export function requireWholeKeyOfOwn(by: KeyMaker, owner: KeyOwner, keyId?: string): void {
  if (by === undefined || by.id !== idOf(owner)) return;
  const { role, is_bound } = by.limits;
  const isItself = keyId !== undefined && keyId === by.api_key_id;
  if ((role !== null || is_bound) && !isItself) throw refusal();
}

/** Finds the networks of a caller's key, and which of others are in none of them. */
const boundsOf = (tx: Tx, by: Principal, others: readonly string[]) =>
  getKeyNetworks(tx, present(by.api_key_id, "who is bound came by a key"), others);

/**
 * Gives the networks of a new key: those that were asked for. Who comes by a key for some networks makes none for others: left out they are the same.
 * @param asked null where none were asked for.
 * @throws AppError invalid for networks beyond those of the caller's key.
 */
export async function networksOfNewKey(
  tx: Tx,
  by: KeyMaker,
  asked: string[] | null,
): Promise<string[] | null> {
  if (by?.limits.is_bound !== true) return asked;
  const { networks, beyond } = await boundsOf(tx, by, asked ?? []);
  const [first] = beyond;
  if (first !== undefined)
    throw invalidInput({
      allowed_addresses: `Input should be in the networks that your own key works from [input: ${first}]`,
    });
  return asked ?? networks;
}

/**
 * Holds that who comes by a key for some networks gets no secret that works from others.
 * @param networks of the key that gets another secret; null for everywhere.
 * @throws AppError forbidden.
 */
export async function requireNarrowerKey(
  tx: Tx,
  by: KeyMaker,
  networks: readonly string[] | null,
): Promise<void> {
  if (by?.limits.is_bound !== true) return;
  if (networks === null || (await boundsOf(tx, by, networks)).beyond.length > 0) throw refusal();
}
