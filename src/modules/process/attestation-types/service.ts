import type { Executor } from "../../../db/connect.ts";
import {
  type GivenDefinition,
  isSameDefinition,
  normalDefinition,
  type TypeDefinition,
} from "../../../domain/attestation-types/definition.ts";
import { parseTypeReference } from "../../../domain/attestation-types/reference.ts";
import { type AppError, notFound } from "../../../domain/errors.ts";
import type { Actor } from "../../../domain/principal.ts";
import { recorded } from "../../kernel/audit/service.ts";
import type { Deps } from "../../kernel/deps.ts";
import { checkDefinition } from "./check.ts";
import {
  findTypeVersion,
  insertTypeVersion,
  lockType,
  type TypeVersion,
  updateTypeArchived,
  updateTypeInUse,
} from "./store.ts";

export { judgeCustomData, summarize } from "./evaluation.ts";
export type { TypeVersion } from "./store.ts";

/** On whose behalf, in which organization. */
export interface TypeScope {
  org: { id: string; name: string };
  actor: Actor;
}

const resourceType = "custom_attestation_type";

/** Makes the error for a name that no type has. */
export function noSuchType(name: string, org: string): AppError {
  return notFound(`Custom attestation type '${name}' does not exist for org '${org}'`);
}

/**
 * Finds the type of this name in its latest version, or in the one that `name@v2` names. Archived types are found, too:
 * `archived` says so. Undefined when there is no such type or version.
 */
export async function findAttestationType(
  db: Executor,
  orgId: string,
  nameOrNameAtVersion: string,
): Promise<TypeVersion | undefined> {
  const reference = parseTypeReference(nameOrNameAtVersion);
  return reference && findTypeVersion(db, orgId, reference);
}

function writeVersion(deps: Deps, scope: TypeScope, name: string, definition: TypeDefinition): Promise<void> {
  const orgId = scope.org.id;
  const created_by_name = scope.actor.name;
  return recorded(deps, scope, async (tx, record) => {
    const at = deps.clock.now();
    const type = await lockType(tx, orgId, { id: deps.ids.next(), name, created_by_name, created_at: at });
    const latest = await findTypeVersion(tx, orgId, { name, version: undefined });
    const same = latest !== undefined && isSameDefinition(latest, definition);
    if (same && !type.archived) return;
    if (!same) {
      const version = (latest?.version ?? 0) + 1;
      await insertTypeVersion(tx, orgId, { ...definition, type_id: type.id, version, created_by_name }, at);
    }
    await updateTypeInUse(tx, orgId, type.id, at);
    record(resourceType, name);
  });
}

/**
 * Creates a type, adds a version to it if the definition differs from the latest one, and takes it out of the archive.
 * The same again changes nothing.
 * @throws AppError invalid for a schema, rule or expression that cannot be used, unavailable when too much is waiting.
 */
export async function postAttestationType(
  deps: Deps,
  scope: TypeScope,
  given: GivenDefinition & { name: string },
): Promise<void> {
  const definition = normalDefinition(given);
  const latest = await findTypeVersion(deps.db, scope.org.id, { name: given.name, version: undefined });
  if (latest !== undefined && isSameDefinition(latest, definition)) {
    // It was checked when it was posted first.
    if (!latest.archived) return;
  } else await checkDefinition(deps.sandbox, scope.org.id, definition);
  await writeVersion(deps, scope, given.name, definition);
}

/**
 * Archives a type, which then takes no new attestations. Repeating it changes nothing.
 * @throws AppError not_found when there is none of this name.
 */
export function archiveAttestationType(deps: Deps, scope: TypeScope, name: string): Promise<void> {
  return recorded(deps, scope, async (tx, record) => {
    const archived = await updateTypeArchived(tx, scope.org.id, name, deps.clock.now());
    if (archived === undefined) throw noSuchType(name, scope.org.name);
    if (archived) record(resourceType, name);
  });
}
