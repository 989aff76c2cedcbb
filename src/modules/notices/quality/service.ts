import { randomBytes } from "node:crypto";

import { type AppError, notFound } from "../../../domain/errors.ts";
import type { Org, OrgScope } from "../../../domain/principal.ts";
import type { FlowNameOptions } from "../../../domain/quality/names.ts";
import { createToken } from "../../../lib/token.ts";
import { recorded } from "../../kernel/audit/service.ts";
import type { Deps } from "../../kernel/deps.ts";
import { deleteIntegration, type IntegrationRow, updateSecret, upsertIntegration } from "./store.ts";

/** Makes the 404 for what needs the integration while it is off. */
export function integrationOff(org: Org): AppError {
  return notFound(`Integration 'quality' is not switched on for organization '${org.name}'`);
}

/** A settings change, and the secret when it has just been made. */
interface PutResult {
  row: IntegrationRow;
  secret: string | undefined;
}

/** Switches the integration on, or changes its settings, which keeps URL and secret. A repetition changes and records nothing. */
export function putIntegration(deps: Deps, scope: OrgScope, options: FlowNameOptions): Promise<PutResult> {
  // Senders take 16 to 200 characters.
  const secret = createToken();
  return recorded(deps, scope, async (tx, record) => {
    const { row, became } = await upsertIntegration(tx, scope.org.id, {
      ...options,
      // Only who knows it can call the hook at all.
      hook_uid: randomBytes(24).toString("base64url"),
      secret: deps.secrets.seal(secret),
      created_by_name: scope.actor.name,
      at: deps.clock.now(),
    });
    if (became !== "same") record("integration", "quality");
    return { row, secret: became === "created" ? secret : undefined };
  });
}

/**
 * Replaces the secret; the old one stops working at once. Not idempotent: every call makes another.
 * @throws AppError not_found while the integration is off.
 */
export function rotateSecret(deps: Deps, scope: OrgScope): Promise<{ row: IntegrationRow; secret: string }> {
  const secret = createToken();
  return recorded(deps, scope, async (tx, record) => {
    const change = { secret: deps.secrets.seal(secret), at: deps.clock.now() };
    const row = await updateSecret(tx, scope.org.id, change);
    if (row === undefined) throw integrationOff(scope.org);
    record("integration", "quality");
    return { row, secret };
  });
}

/**
 * Switches the integration off: its URL stops existing, what it brought stays.
 * @throws AppError not_found when it is off already.
 */
export function removeIntegration(deps: Deps, scope: OrgScope): Promise<void> {
  return recorded(deps, scope, async (tx, record) => {
    if (!(await deleteIntegration(tx, scope.org.id))) throw integrationOff(scope.org);
    record("integration", "quality");
  });
}
