import type { Tx } from "../../../../db/connect.ts";
import { notFound } from "../../../../domain/errors.ts";
import { notAllowListed } from "../../../../domain/policies.ts";
import type { OrgScope } from "../../../../domain/principal.ts";
import { recorded } from "../../../kernel/audit/service.ts";
import type { Deps } from "../../../kernel/deps.ts";
import { lockLive } from "../../environments/service.ts";
import { notify } from "../../../notices/notifications/service.ts";
import { reevaluate } from "../../snapshots/report/evaluate-service.ts";
import { updateRemoved, upsertEntry } from "./store.ts";

/** An artifact that somebody trusts in an environment. */
interface Allowance {
  artifact_name: string;
  artifact_fingerprint: string;
  /** Why. */
  description: string;
}

interface Place {
  environment: { id: string; name: string };
  allowance: Allowance;
  at: number;
}

/** Notifies of an artifact that was put on the list, and judges what runs there again. */
async function announce(deps: Deps, tx: Tx, scope: OrgScope, { environment, allowance, at }: Place) {
  const { org } = scope;
  const subject = { kind: "environment", id: environment.id, name: environment.name } as const;
  const facts = {
    artifact: { name: allowance.artifact_name, fingerprint: allowance.artifact_fingerprint },
  };
  await notify(tx, org.id, [{ trigger: "ON_ALLOWED_ARTIFACT", subject, at, facts }]);
  await reevaluate(deps, tx, org, { environmentIds: [environment.id], cause: "allow-list" });
}

/**
 * Puts an artifact on the allow-list of a live environment and judges what runs there again (contract environments
 * 10.1). Of one that is there already name and description are replaced. Repeating it changes nothing.
 * @throws AppError not_found for an unknown environment.
 */
export async function allowArtifact(
  deps: Deps,
  scope: OrgScope,
  environmentName: string,
  allowance: Allowance,
): Promise<void> {
  const { org, actor } = scope;
  const { artifact_name, artifact_fingerprint, description } = allowance;
  await recorded(deps, scope, async (tx, record) => {
    const environment = await lockLive(tx, org, environmentName, "no key update");
    const at = deps.clock.now();
    const written = await upsertEntry(tx, org.id, {
      id: deps.ids.next(),
      environment_id: environment.id,
      fingerprint: artifact_fingerprint,
      artifact_name,
      description,
      created_at: at,
      created_by_id: actor.id,
      created_by_name: actor.name,
    });
    if (written === undefined) return;
    record("allowlist", `${environment.name}/${artifact_fingerprint}`);
    if (written.created) await announce(deps, tx, scope, { environment, allowance, at });
  });
}

/**
 * Takes an artifact off the allow-list of a live environment and judges what runs there again. Once it is done there is
 * nothing left to take off, so the second time is not_found.
 * @throws AppError not_found for an unknown environment, or an artifact that is not on its list.
 */
export async function disallowArtifact(
  deps: Deps,
  scope: OrgScope,
  environmentName: string,
  fingerprint: string,
): Promise<void> {
  const { org, actor } = scope;
  await recorded(deps, scope, async (tx, record) => {
    const { id, name } = await lockLive(tx, org, environmentName, "no key update");
    const removal = { at: deps.clock.now(), by: actor.name };
    if (!(await updateRemoved(tx, org.id, { environment_id: id, fingerprint }, removal)))
      throw notFound(notAllowListed(fingerprint, name));
    record("allowlist", `${name}/${fingerprint}`);
    await reevaluate(deps, tx, org, { environmentIds: [id], cause: "allow-list" });
  });
}
