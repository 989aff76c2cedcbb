import type { Change } from "../../src/domain/changes.ts";

/**
 * Which reads show something of a topic, by their paths. All of what people search by name is left out: a list that moves while somebody
 * chooses from it is worse than one that is some seconds old.
 */
const readsOf: Readonly<Record<Change["topic"], RegExp>> = {
  environment:
    /^GET \/(?:environments|snapshots|running|events|env-diff|deployments|asserts|search.*sha|organizations.*(?:overview|compliance-history)|artifacts|trails|provenance|policies|controls.*coverage|repos.*(?:live-artifacts|\{repo\}\/)|tags)\b/,
  flow: /^GET \/(?:flows|trails|artifacts|organizations.*overview)\b/,
  trail:
    /^GET \/(?:flows|trails|artifacts|attestations|asserts|search.*sha|provenance|controls.*decisions|environments.*explain|organizations.*overview)\b/,
  artifact:
    /^GET \/(?:artifacts|flows|trails|attestations|asserts|search.*sha|provenance|builds|repos|environments.*explain)\b/,
  policy: /^GET \/(?:policies|controls|environments|asserts)\b/,
  control: /^GET \/controls\b/,
  attestation_type: /^GET \/custom-attestation-types\b/,
  repo: /^GET \/(?:repos|builds|deployments)\b/,
  allow_list: /^GET \/(?:allowlists|environments|snapshots|running|asserts)\b/,
  action: /^GET \/(?:actions|notifications)\b/,
  delivery: /^GET \/(?:actions|notifications|integrations)\b/,
  integration: /^GET \/integrations\b/,
  space: /^GET \/(?:spaces|environments|flows)\b/,
  member: /^GET \/(?:members|membership-audit-log)\b/,
  service_account: /^GET \/service-accounts\b/,
  organization: /^GET \/organizations\b/,
};

/** The part of an input that names what is read. */
interface Named {
  params?: Readonly<Record<string, string | number>> | undefined;
}

/**
 * Says whether an answer may be another one after a change: it shows something of the topic, and is not about another thing of
 * that kind.
 * @param operation method and path as the contract has them.
 */
export function isTouchedBy(
  operation: string,
  input: Named,
  { topic, name }: Pick<Change, "topic" | "name">,
): boolean {
  // Everything that is written stands there.
  if (operation.startsWith("GET /audit-log")) return true;
  if (!readsOf[topic].test(operation)) return false;
  const about = topic === "environment" ? input.params?.["env_name"] : undefined;
  return about === undefined || name === null || about === name;
}
