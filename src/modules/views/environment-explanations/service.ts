import {
  type EnvironmentExplanation,
  type ExplanationQuery,
  standardPage,
} from "../../../contract/environment-explanations.ts";
import { JsonPieces, type Piece } from "../../../contract/endpoint.ts";
import { paginationOf } from "../../../contract/pagination.ts";
import {
  decisionsOf,
  parseDecisions,
  RuleBook,
  type SharedDecisions,
} from "../../../domain/snapshot/decisions.ts";
import { flowsIn, isTrusted } from "../../../domain/snapshot/documents.ts";
import {
  type Evidence,
  explainRecorded,
  runtimeStatus,
  summarizeArtifact,
  summarizeEnvironment,
} from "../../../domain/snapshot/explain.ts";
import type { Timestamp } from "../../../lib/clock.ts";
import { zip } from "../../../lib/zip.ts";
import type { Deps } from "../../kernel/deps.ts";
import type { Org } from "../../../domain/principal.ts";
import { type PageNumbers, pageSlice } from "../../../lib/paging.ts";
import { DecisionBook } from "../../runtime/snapshots/read/decision-book.ts";
import { resolveSnapshot, type SnapshotRef } from "../../runtime/snapshots/read/find-service.ts";
import { showRemedy, showRequirement } from "./show.ts";
import {
  getJudgedSnapshot,
  type JudgedSnapshot,
  listEvidence,
  listMemberStates,
  listRecorded,
  type RecordedRow,
} from "./store.ts";

type Reading = Pick<Deps, "db" | "clock" | "links">;
type Explained = EnvironmentExplanation["artifacts"][number];

/** Reads the attestations of each artifact, by flow. */
async function readEvidence(
  deps: Reading,
  org: Org,
  artifacts: readonly RecordedRow[],
  at: Timestamp,
): Promise<Evidence[][][]> {
  const places = artifacts.flatMap(({ fingerprint, flows }) =>
    flows.map(({ trail_id, template_reference_name, git_commit, git_commit_info }) => ({
      fingerprint,
      trail_id,
      template_reference_name,
      git_commit,
      git_commit_info,
    })),
  );
  const found = places.length === 0 ? new Map() : await listEvidence(deps.db, org.id, places, at);
  let place = 0;
  return artifacts.map(({ flows }) => flows.map((): Evidence[] => found.get(place++) ?? []));
}

interface Explaining {
  /** When the snapshot was made. */
  at: Timestamp;
  rules: ExplanationQuery["rules"];
}

function explainArtifact(
  deps: Reading,
  org: Org,
  row: RecordedRow & { decisions: SharedDecisions; evidence: Evidence[][] },
  { at, rules }: Explaining,
): Explained {
  const { name, fingerprint, compliant, evidence, doc } = row;
  const policy_decisions = decisionsOf(row.decisions, flowsIn(doc));
  const recorded = { fingerprint, allow_listed: isTrusted(doc), policy_decisions, evidence };
  const { requirements, remedies } = explainRecorded(recorded, at);
  return {
    artifact_name: name,
    artifact_fingerprint: fingerprint,
    status: runtimeStatus(compliant),
    is_compliant: compliant === true,
    summary: summarizeArtifact(compliant, recorded),
    allow_listed: recorded.allow_listed,
    requirements: requirements.map((requirement) => showRequirement(deps, org, requirement, rules)),
    proposed_reports: remedies.map((remedy) => showRemedy(fingerprint, remedy)),
  };
}

/**
 * Writes the artifacts as the items of a list, without its brackets. What was reported meanwhile may or may not be named.
 */
async function* artifactPieces(
  deps: Reading,
  org: Org,
  { environment, chosen }: { environment: SnapshotRef["environment"]; chosen: readonly number[] },
  explaining: Explaining & { book: RuleBook },
): AsyncGenerator<Piece> {
  const key = { environment_id: environment.id };
  const decisions = new DecisionBook(deps.db, org.id, key, (text) =>
    explaining.book.share(parseDecisions(text)),
  );
  let separator = "";
  for await (const rows of listRecorded(deps.db, org.id, environment.id, chosen))
    for await (const decided of decisions.of(rows)) {
      const evidence = await readEvidence(
        deps,
        org,
        decided.map(([row]) => row),
        explaining.at,
      );
      for (const [[row, shared], found] of zip(decided, evidence)) {
        const whole = { ...row, decisions: shared, evidence: found };
        yield separator + JSON.stringify(explainArtifact(deps, org, whole, explaining));
        separator = ",";
      }
    }
}

/** Reads what is said before the artifacts. */
async function headOf(
  deps: Reading,
  org: Org,
  { environment, index, count }: SnapshotRef,
  snapshot: JudgedSnapshot,
): Promise<Omit<EnvironmentExplanation, "artifacts" | "html_url">> {
  const { timestamp, compliant, policies, artifacts, failing, type } = snapshot;
  const members = type === "logical" ? await listMemberStates(deps.db, org.id, environment.id) : undefined;
  return {
    environment_name: environment.name,
    environment_type: type,
    snapshot_index: index,
    is_latest: index === count,
    status: runtimeStatus(compliant),
    is_compliant: compliant === true,
    summary: summarizeEnvironment({ compliant, policies: policies.length, artifacts, failing }),
    evaluated_at: timestamp,
    policies,
    members: members?.map((member) => ({ name: member.name, status: runtimeStatus(member.state) })) ?? null,
  };
}

/** Says which page was asked for; undefined for everything. */
function askedPage({ page, per_page }: ExplanationQuery): PageNumbers | undefined {
  if (page === undefined && per_page === undefined) return undefined;
  return { page: page ?? 1, per_page: per_page ?? standardPage };
}

/**
 * Explains why an environment has the verdict it has, or had in an earlier snapshot, as JSON text made while it is sent: of
 * all that ran, or of what is asked for. The verdict and its summary are always those of all.
 * @throws AppError not_found for unknown environments and snapshots, invalid for what is no expression.
 */
export async function readEnvironmentExplanation(
  deps: Reading,
  org: Org,
  name: string,
  query: ExplanationQuery,
): Promise<JsonPieces> {
  const ref = await resolveSnapshot(deps, org, name, query.snapshot || "-1");
  const { environment, index } = ref;
  const key = { environment_id: environment.id, index };
  const filter = { fingerprints: query.fingerprint, failing: query.only === "failing" };
  const snapshot = await deps.db.sliced(() => getJudgedSnapshot(deps.db, org.id, key, filter));
  const head = JSON.stringify(await headOf(deps, org, ref, snapshot));
  const page = askedPage(query);
  const { limit, offset } = page ? pageSlice(page) : { limit: snapshot.chosen.length, offset: 0 };
  const chosen = snapshot.chosen.slice(offset, offset + limit);
  const html_url = deps.links.web(`/${org.name}/environments/${environment.name}/snapshots/${index}`);

  async function* pieces(): AsyncGenerator<Piece> {
    const book = new RuleBook();
    yield `${head.slice(0, -1)},"artifacts":[`;
    const explaining = { at: snapshot.timestamp, rules: query.rules, book };
    yield* artifactPieces(deps, org, { environment, chosen }, explaining);
    const tail = {
      html_url,
      ...(query.rules === "once" ? { rules: book.rules } : {}),
      ...(page === undefined ? {} : { pagination: paginationOf(page, snapshot.chosen.length) }),
    };
    yield `],${JSON.stringify(tail).slice(1)}`;
  }

  return new JsonPieces(pieces());
}
