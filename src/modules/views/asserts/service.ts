import type { AssertArtifact, AssertQuery } from "../../../contract/asserts.ts";
import { JsonPieces } from "../../../contract/endpoint.ts";
import { type AppError, invalid, notFound } from "../../../domain/errors.ts";
import { judgingProblem } from "../../../domain/judging.ts";
import { artifactJudge } from "../../../domain/policy/evaluation/evaluate.ts";
import { wantedAttestations } from "../../../domain/policy/evaluation/rules.ts";
import type { PolicyDecision } from "../../../domain/policy/evaluation/model.ts";
import type { Org } from "../../../domain/principal.ts";
import { knownFlow } from "../../../domain/snapshot/provenance.ts";
import { wireId } from "../../../lib/ids.ts";
import { present } from "../../../lib/present.ts";
import { paced } from "../../../lib/steps.ts";
import type { Deps } from "../../kernel/deps.ts";
import { withStates } from "../../process/compliance/service.ts";
import { requireReadable } from "../../runtime/environments/service.ts";
import { readPolicies } from "../../runtime/rules/policies/applied-service.ts";
import { ManyFlows } from "./many-service.ts";
import { showFlow } from "./show.ts";
import {
  type AllowListing,
  type AssertFact,
  type AssertFactRow,
  type AssertPolicy,
  type AssertSubject,
  findEnvironmentCase,
  findPolicyCase,
  listAssertFacts,
} from "./store.ts";

type Reading = Pick<Deps, "db" | "links">;

/** What flows know of an artifact: all of it, or where that is much, where it is. */
type Known = readonly AssertFact[] | ManyFlows;

function isMany(known: Known): known is ManyFlows {
  return known instanceof ManyFlows;
}

function countOf(known: Known): number {
  return isMany(known) ? known.count : known.length;
}

/** Judges what was found of an artifact; null means that it was too much. */
async function judged(
  deps: Reading,
  org: Org,
  subject: AssertSubject,
  facts: readonly AssertFactRow[] | null,
): Promise<Known> {
  return facts === null ? ManyFlows.find(deps, org, subject) : withStates(deps.db, org.id, facts);
}

/** What an artifact is judged by, and what policies say of it. */
interface Judgement {
  known: Known;
  scope: AssertArtifact["scope"];
  environment: string | null;
  decisions: PolicyDecision[] | null;
  allow_listing: AllowListing | null;
}

function unknownArtifact(org: Org, { fingerprint, flow_name }: AssertSubject): AppError {
  const where = flow_name === null ? "any flow" : `flow '${flow_name}'`;
  return notFound(
    `Artifact with fingerprint '${fingerprint}' does not exist in ${where} belonging to organization '${org.name}'`,
  );
}

/** Judges an artifact by policies. @throws AppError invalid when that is too much work. */
async function decide(
  deps: Reading,
  org: Org,
  found: { known: Known; policies: readonly AssertPolicy[]; allow_listed: boolean },
  fingerprint: string,
): Promise<PolicyDecision[]> {
  const { known, policies, allow_listed } = found;
  const ids = policies.map(({ id }) => id);
  const texts = await readPolicies(deps.db, org.id, ids);
  const versions = policies.map(({ id, name, version }) => ({
    id,
    name,
    version,
    policy: present(texts.get(id), "every version was read"),
  }));
  const count = countOf(known);
  const require = (longestName: number): void => {
    const size = { policies: versions, facts: count, mostFlows: count, names: longestName, longestName };
    const problem = judgingProblem(size);
    if (problem !== undefined)
      throw invalid(`Artifact with fingerprint '${fingerprint}' cannot be judged: ${problem}`);
  };
  // Before many are read.
  require(0);
  const { name, flows } = isMany(known)
    ? await known.known(wantedAttestations(versions.map(({ policy }) => policy)))
    : // Without a report nothing is known of its name.
      { name: known[0]?.filename ?? "", flows: known.map(knownFlow) };
  require(name.length);
  const judge = artifactJudge(versions);
  return (await paced(judge({ name, fingerprint, allow_listed, flows }))).policy_decisions;
}

async function judgeByEnvironment(
  deps: Reading,
  org: Org,
  subject: AssertSubject,
  name: string,
): Promise<Judgement> {
  const found = await findEnvironmentCase(deps.db, org.id, subject, name);
  const known = await judged(deps, org, subject, found.facts);
  const environment = requireReadable(org, name, found.environment);
  const { policies, allow_listing } = environment;
  const isTrusted = allow_listing !== null && subject.flow_name === null;
  if (countOf(known) === 0 && !isTrusted) throw unknownArtifact(org, subject);
  const allow_listed = allow_listing !== null;
  const decisions = await decide(deps, org, { known, policies, allow_listed }, subject.fingerprint);
  return { known, scope: "environment", environment: environment.name, decisions, allow_listing };
}

async function judgeByPolicies(
  deps: Reading,
  org: Org,
  subject: AssertSubject,
  names: readonly string[],
): Promise<Judgement> {
  const { facts: rows, policies } = await findPolicyCase(deps.db, org.id, subject, names);
  const known = await judged(deps, org, subject, rows);
  const found = new Map(policies.map((policy) => [policy.name, policy]));
  const ordered = names.map((name) => {
    const policy = found.get(name);
    if (policy === undefined) throw notFound(`Policy '${name}' does not exist in organization '${org.name}'`);
    return policy;
  });
  if (countOf(known) === 0) throw unknownArtifact(org, subject);
  const decisions = await decide(
    deps,
    org,
    { known, policies: ordered, allow_listed: false },
    subject.fingerprint,
  );
  return { known, scope: "policy", environment: null, decisions, allow_listing: null };
}

async function judgeByFlows(deps: Reading, org: Org, subject: AssertSubject): Promise<Judgement> {
  const known = await judged(deps, org, subject, await listAssertFacts(deps.db, org.id, subject));
  if (countOf(known) === 0) throw unknownArtifact(org, subject);
  return { known, scope: "flow", environment: null, decisions: null, allow_listing: null };
}

/** Judges by what the query names. Clients send empty texts for what was not set. */
function judge(
  deps: Reading,
  org: Org,
  fingerprint: string,
  { flow_name, environment_name, policy_name }: AssertQuery,
): Promise<Judgement> {
  const policies = [...new Set(policy_name)].filter((name) => name !== "");
  const subject = { fingerprint, flow_name: flow_name || null };
  if (!environment_name)
    return policies.length === 0
      ? judgeByFlows(deps, org, subject)
      : judgeByPolicies(deps, org, subject, policies);
  if (policies.length > 0)
    throw invalid("Cannot specify both 'environment_name' and 'policy_name' at the same time");
  return judgeByEnvironment(deps, org, subject, environment_name);
}

function showListing({ id, created_by_id, timestamp, description }: AllowListing) {
  const allowed_by_user_id = created_by_id === null ? "" : wireId(created_by_id);
  return { allowlist_id: wireId(id), allowed_by_user_id, timestamp, description };
}

/**
 * Says whether an artifact may be used, and why (contract environments 7.1). Where no policy says anything the flows
 * decide. One statement, and one more for policies this server has not read yet; where flows are many or say much, more while it is sent.
 * @throws AppError invalid for an environment together with policies, not_found for names there are not and for an
 * artifact that no flow knows, unless the environment trusts it.
 */
export async function assertArtifact(
  deps: Reading,
  org: Org,
  fingerprint: string,
  query: AssertQuery,
): Promise<AssertArtifact | JsonPieces> {
  const judgement = await judge(deps, org, fingerprint, query);
  const { known, scope, environment, decisions, allow_listing } = judgement;
  const isDecided = allow_listing !== null || (decisions !== null && decisions.length > 0);
  const decided = (decisions ?? []).every(({ status }) => status === "COMPLIANT");
  const rest = {
    scope,
    environment,
    policy_evaluations: decisions,
    allow_listing: allow_listing && showListing(allow_listing),
  };
  if (isMany(known)) {
    const compliant = isDecided ? decided : await known.comply();
    return new JsonPieces(known.write({ fingerprint, compliant, ...rest }, await known.first()));
  }
  const flows = known.map((fact) => showFlow(deps, org, fact));
  const [first] = flows;
  return {
    fingerprint,
    flow: first?.flow ?? "",
    trail: first?.trail ?? "",
    compliant: isDecided ? decided : flows.every((flow) => flow.compliant),
    compliance_status: first?.compliance_status ?? null,
    html_url: first?.html_url ?? deps.links.web(`/${org.name}/environments/${environment}`),
    flows,
    ...rest,
  };
}
