import { printSigningSecret } from "../../../domain/notifications/signature.ts";
import type { Timestamp } from "../../../lib/clock.ts";
import type { NonEmpty } from "../../../lib/group.ts";
import type { SecretBox } from "../../../lib/secret-box.ts";
import { recorded, type Scope } from "../../kernel/audit/service.ts";
import type { Deps } from "../../kernel/deps.ts";
import { findKey, insertNextKey, type KeyRow } from "./key-store.ts";

/** How long webhooks are signed with the key that was replaced as well, in seconds. */
const graceSeconds = 24 * 60 * 60;

function keyOf(secrets: SecretBox, orgId: string, generation: number): Buffer {
  return secrets.derive(`webhook signing ${orgId} ${generation}`);
}

/** Derives the keys to sign with now, the one in force first. None is stored. */
export function signingKeys(
  deps: Pick<Deps, "secrets" | "clock">,
  orgId: string,
  row: KeyRow | null | undefined,
): NonEmpty<Buffer> {
  const { secrets, clock } = deps;
  if (row === null || row === undefined) return [keyOf(secrets, orgId, 1)];
  const inForce = keyOf(secrets, orgId, row.generation);
  return clock.now() < row.rotated_at + graceSeconds
    ? [inForce, keyOf(secrets, orgId, row.generation - 1)]
    : [inForce];
}

/** A signing secret as it is shown. */
export interface SigningSecret {
  secret: string;
  rotated_at: Timestamp | null;
  /** Until then webhooks carry a signature by the secret before, too. */
  previous_valid_until: Timestamp | null;
}

function show(deps: Pick<Deps, "secrets" | "clock">, orgId: string, row: KeyRow | undefined): SigningSecret {
  const [inForce, previous] = signingKeys(deps, orgId, row);
  return {
    secret: printSigningSecret(inForce),
    rotated_at: row?.rotated_at ?? null,
    previous_valid_until: previous === undefined || row === undefined ? null : row.rotated_at + graceSeconds,
  };
}

/** Shows the secret that the organization's webhooks are signed with. */
export async function getSigningSecret(deps: Deps, orgId: string): Promise<SigningSecret> {
  return show(deps, orgId, await findKey(deps.db, orgId));
}

/** Replaces the signing secret. Not idempotent: every call makes another, and ends the time of the one before. */
export function rotateSigningSecret(deps: Deps, scope: Scope): Promise<SigningSecret> {
  return recorded(deps, scope, async (tx, record) => {
    const row = await insertNextKey(tx, scope.org.id, deps.clock.now());
    record("signing_secret", "notifications");
    return show(deps, scope.org.id, row);
  });
}
