import { groupBy } from "../lib/group.ts";
import type { TargetType } from "./actions.ts";

/** The columns of the schema that hold what is sealed with the secret key, as `table.column`. */
export const sealedColumns = [
  "actions.target_secrets",
  "quality_integrations.secret",
  "sessions.id_token",
] as const;

/** What of a database is sealed with its secret key, or follows from it. */
export interface SealedRows {
  /** Names of organizations by their ids. */
  organizations: ReadonlyMap<string, string>;
  actions: readonly { org_id: string; number: number; name: string; targets: readonly TargetType[] }[];
  /** Organizations whose code-quality webhook has a secret. */
  integrations: readonly string[];
  /** Sessions with a sealed ID token. */
  sessions: number;
}

/** Something that does not work without the secret key. */
export interface LostSecret {
  kind: "action" | "integration" | "signing_secret" | "sessions";
  /** Name of the organization; null for what belongs to none. */
  org: string | null;
  /** How the audit log names it. */
  resource: string;
  /** What is lost, in words. */
  text: string;
  /** Places of the action's targets that cannot be reached. */
  targets?: number[];
}

/** What an organization loses. */
export interface LostByOrganization {
  org_id: string;
  lost: LostSecret[];
}

function lostOfOrganization(
  org: string,
  unsorted: SealedRows["actions"],
  hasIntegration: boolean,
): LostSecret[] {
  const actions = unsorted.toSorted((one, other) => one.number - other.number);
  const lost: LostSecret[] = actions.flatMap(({ number, name, targets }) => {
    const places = targets.flatMap((type, place) => (type === "EMAIL" ? [] : [place]));
    if (places.length === 0) return [];
    const what =
      places.length === 1 ? "the address of a webhook" : `the addresses of ${places.length} webhooks`;
    return [
      {
        kind: "action" as const,
        org,
        resource: String(number),
        text: `action ${number} '${name}': ${what}`,
        targets: places,
      },
    ];
  });
  // What was never sent, nobody checks.
  if (actions.some(({ targets }) => targets.includes("WEBHOOK")))
    lost.push({
      kind: "signing_secret",
      org,
      resource: "notifications",
      text: "the secret that webhooks are signed with, which becomes another one",
    });
  if (hasIntegration)
    lost.push({
      kind: "integration",
      org,
      resource: "quality",
      text: "the secret of the code-quality webhook",
    });
  return lost;
}

/** Lists what an installation loses with its secret key, by organization in the order of their names, and what belongs to none. */
export function listLost(rows: SealedRows): { organizations: LostByOrganization[]; others: LostSecret[] } {
  const actions = groupBy(rows.actions, ({ org_id }) => org_id);
  const integrations = new Set(rows.integrations);
  const ids = [...new Set([...actions.keys(), ...integrations])];
  const nameOf = (id: string): string => rows.organizations.get(id) ?? id;
  const organizations = ids
    .toSorted((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1))
    .map((org_id) => ({
      org_id,
      lost: lostOfOrganization(nameOf(org_id), actions.get(org_id) ?? [], integrations.has(org_id)),
    }))
    .filter(({ lost }) => lost.length > 0);
  const others: LostSecret[] =
    rows.sessions === 0
      ? []
      : [
          {
            kind: "sessions",
            org: null,
            resource: "sessions",
            text: `the ${rows.sessions === 1 ? "ID token of 1 session" : `ID tokens of ${rows.sessions} sessions`}, so that signing out asks the provider without a hint`,
          },
        ];
  return { organizations, others };
}

/** Says what is lost, for people. */
export function lostText({ org, text }: LostSecret): string {
  return org === null ? text : `${org}: ${text}`;
}
