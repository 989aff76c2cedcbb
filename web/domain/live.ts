import type { Change } from "../../src/domain/changes.ts";

/** Which reads show something of a topic, by their paths. */
const readsOf: Readonly<Record<Change["topic"], RegExp>> = {
  environment:
    /^GET \/(?:environments|snapshots|running|events|env-diff|live-artifacts|deployments|asserts?|organizations\/\{org\}\/(?:overview|compliance-history)|artifacts|provenance|policies|tags)\b/,
  flow: /^GET \/(?:flows|trails|artifacts|tags|organizations\/\{org\}\/overview)\b/,
  trail: /^GET \/(?:flows|trails|artifacts|attestations|provenance|organizations\/\{org\}\/overview)\b/,
  artifact: /^GET \/(?:artifacts|flows|trails|attestations|search|provenance|builds|repos)\b/,
  policy: /^GET \/(?:policies|controls|environments)\b/,
  control: /^GET \/controls\b/,
  attestation_type: /^GET \/custom-attestation-types\b/,
  repo: /^GET \/(?:repos|builds|deployments|tags)\b/,
  allow_list: /^GET \/(?:allowlists|environments|snapshots|running)\b/,
  action: /^GET \/(?:actions|notifications)\b/,
  delivery: /^GET \/(?:actions|notifications|integrations)\b/,
  integration: /^GET \/integrations\b/,
  space: /^GET \/(?:spaces|environments|flows)\b/,
  member: /^GET \/(?:members|audit)\b/,
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
  if (!readsOf[topic].test(operation)) return false;
  const about = topic === "environment" ? input.params?.["env_name"] : undefined;
  return about === undefined || name === null || about === name;
}
