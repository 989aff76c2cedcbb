import type {
  ArtifactHistoryEvent,
  ArtifactListItemResponse,
  ArtifactResponse,
} from "../../../contract/artifact-reads.ts";
import { artifactPage } from "../../../domain/pages.ts";
import { type ArtifactEvidence, evaluateArtifactInSteps } from "../../../domain/compliance/evaluate.ts";
import { artifactRequirementsInSteps } from "../../../domain/compliance/explain.ts";
import type { AttestationReport } from "../../../domain/compliance/model.ts";
import { summarize } from "../../../domain/compliance/summary.ts";
import { ExactJson } from "../../../lib/exact-json.ts";
import { wireId } from "../../../lib/ids.ts";
import { collected, sorted, type Steps } from "../../../lib/steps.ts";
import type { JudgeableArtifact } from "../compliance/service.ts";
import type { Deps } from "../../kernel/deps.ts";
import { showEventCommit, withTexts } from "../trails/show.ts";
import type { EvidenceRow, EvidenceText, HistoryRow, ReadArtifactRow, Stay } from "./read-store.ts";

/** A report of an artifact with everything that its trail and its attestations say of it. */
export interface JudgedArtifact {
  row: ReadArtifactRow;
  /** What it is judged by. */
  deciding: JudgeableArtifact;
  evidence: ArtifactEvidence;
  /** By id of the attestation. */
  details: ReadonlyMap<string, EvidenceRow>;
  /** Shows a text of an attestation, or what stands for it until it is sent. */
  describe: (attestation: EvidenceRow, which: EvidenceText) => ShownText;
}

/** As text, or to be put in later. */
type ShownText = string | ExactJson | null;

/** Makes the URL of an artifact's page. */
export function artifactUrl(deps: Pick<Deps, "links">, org: { name: string }, row: ReadArtifactRow): string {
  const page = artifactPage({ flow_name: row.flow_name, artifact_id: row.id }, row.fingerprint);
  return deps.links.web(`/${org.name}${page}`);
}

type ShownAttestation = Omit<ArtifactListItemResponse["evidence"][string], "description" | "build_url"> & {
  description: ShownText;
  build_url: ShownText;
};
type ShownEvidence = Record<string, ShownAttestation>;

function showAttestation(
  attestation: AttestationReport,
  more: EvidenceRow | undefined,
  describe: JudgedArtifact["describe"],
): ShownAttestation {
  return {
    attestation_id: wireId(attestation.attestation_id),
    evidence_type: attestation.type,
    is_compliant: attestation.is_compliant,
    created_at: attestation.reported_at,
    description: more === undefined ? null : describe(more, "description"),
    build_url: more === undefined ? null : describe(more, "origin_url"),
    evidence_archive_fingerprint: more?.file_sha256 ?? null,
    has_audit_package: more !== undefined && more.file_sha256 !== null,
  };
}

function* showEvidence({ evidence, details, describe }: JudgedArtifact): Steps<ShownEvidence> {
  // Without a prototype, any name can be a property of its own.
  const shown = Object.create(null) as ShownEvidence;
  yield* collected(evidence.attestations, (one) => {
    shown[one.name] = showAttestation(one, details.get(one.attestation_id), describe);
  });
  return shown;
}

/** What is shown as it was written. */
type Exact<T> = Omit<T, "user_data" | "annotations" | "repo_info" | "evidence"> & {
  evidence: ShownEvidence;
  user_data: ExactJson;
  annotations: ExactJson | null;
  repo_info: ExactJson | null;
};

export type ShownArtifactItem = Exact<ArtifactListItemResponse>;
export type ShownArtifact = Exact<ArtifactResponse>;

function exactOrNull(text: string | null): ExactJson | null {
  return text === null ? null : ExactJson.ofText(text);
}

/** What clients that cut commits to seven characters can show when there is none. */
const unknownCommit = "0".repeat(40);

/** Shows an artifact as lists do (contract flows 5.2). */
export function* showArtifactItem(
  deps: Pick<Deps, "links">,
  org: { name: string },
  judged: JudgedArtifact,
): Steps<ShownArtifactItem> {
  const { row, evidence } = judged;
  const { template, reports, artifact } = judged.deciding;
  const commit = showEventCommit(row.git_commit_info);
  return {
    id: wireId(row.id),
    flow_name: row.flow_name,
    flow: { name: row.flow_name, tags: row.flow_tags },
    trail_name: row.trail_name,
    template_reference_name: row.template_reference_name,
    fingerprint: row.fingerprint,
    filename: row.filename,
    description: row.description,
    git_commit: row.git_commit ?? unknownCommit,
    git_commit_info: commit && withTexts(commit),
    repo_info: exactOrNull(row.repo_info),
    commit_url: row.commit_url,
    build_url: row.build_url,
    repo_url: row.repo_url,
    html_url: artifactUrl(deps, org, row),
    api_url: deps.links.api(`/artifacts/${org.name}/${row.flow_name}/fingerprint/${row.fingerprint}`),
    created_at: row.created_at,
    last_modified_at: evidence.last_reported_at,
    created_by: row.created_by_name,
    user_data: ExactJson.ofText(row.user_data ?? "{}"),
    external_urls: row.external_urls,
    annotations: exactOrNull(row.annotations),
    state: yield* evaluateArtifactInSteps(template, reports, artifact),
    evidence: yield* showEvidence(judged),
  };
}

/** Says an event in the words clients know it by (contract flows 5.5, 6.3). */
function reportedEvent(row: HistoryRow): ArtifactHistoryEvent {
  const { artifact_name, attestation_name, attestation_type, is_override, occurred_at: timestamp } = row;
  if (attestation_name === null) return { event: `${artifact_name} reported`, timestamp };
  const what = is_override ? "overridden" : "reported";
  return {
    event: `'${attestation_type}' attestation ${what} for ${artifact_name}.${attestation_name}`,
    timestamp,
  };
}

function stayEvents({ environment_name, started_at, exited_at }: Stay): ArtifactHistoryEvent[] {
  const started = { event: `started running in '${environment_name}'`, timestamp: started_at };
  if (exited_at === null) return [started];
  return [started, { event: `stopped running in '${environment_name}'`, timestamp: exited_at }];
}

/** Computes the seconds from `since` to the first start in each environment. */
function leadTimes(stays: readonly Stay[], since: number | null | undefined): Record<string, number> {
  const times = new Map<string, number>();
  if (since === null || since === undefined) return {};
  for (const { environment_name, started_at } of stays) {
    const known = times.get(environment_name);
    const time = Math.round((started_at - since) * 1e6) / 1e6;
    if (known === undefined || time < known) times.set(environment_name, time);
  }
  return Object.fromEntries(times);
}

/** Shows an artifact in full (contract flows 5.5). */
export function* showArtifact(
  deps: Pick<Deps, "links">,
  org: { name: string },
  judged: JudgedArtifact,
  past: { history: readonly HistoryRow[]; stays: readonly Stay[] },
): Steps<ShownArtifact> {
  const { row } = judged;
  const { template, reports, artifact } = judged.deciding;
  const expected = template.trail.artifacts.find(({ name }) => name === row.template_reference_name);
  const item = yield* showArtifactItem(deps, org, judged);
  const requirements = yield* artifactRequirementsInSteps(template, reports, artifact);
  const events = [...(yield* collected(past.history, reportedEvent)), ...past.stays.flatMap(stayEvents)];
  return {
    ...item,
    git_commit: row.git_commit ?? "",
    template: expected?.attestations.map(({ name }) => name) ?? [],
    state_info: summarize({ requirements }),
    running: past.stays
      .filter((stay) => stay.exited_at === null)
      .map(({ environment_name, started_in: snapshot_index }) => ({ environment_name, snapshot_index })),
    exited: past.stays.flatMap(({ environment_name, exited_in }) =>
      exited_in === null ? [] : [{ environment_name, snapshot_index: exited_in }],
    ),
    history: yield* sorted(events, (a, b) => a.timestamp - b.timestamp),
    commit_lead_times: leadTimes(past.stays, item.git_commit_info?.timestamp),
    build_lead_times: leadTimes(past.stays, row.created_at),
  };
}
