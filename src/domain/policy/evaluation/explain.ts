import { groupBy } from "../../../lib/group.ts";
import { smallestCover, type RuleReference, type WantedAttestation } from "./cover.ts";
import type { ArtifactState, PolicyDecision, Resolution, RuleEvaluation } from "./model.ts";

interface Place {
  /** Null: the flow the artifact is going to be reported to, whichever that is. */
  flow_name: string | null;
  trail_name: string | null;
}

/** Something to report so that an artifact meets rules it does not meet now. */
export type Remedy =
  | { kind: "report_artifact"; fingerprint: string; rules: readonly RuleReference[] }
  | ({
      kind: "make_trail_compliant";
      artifact_status: ArtifactState | null;
      rules: readonly RuleReference[];
    } & Place)
  | ({ kind: "report_attestation" } & WantedAttestation & Place);

interface Failure {
  /** Place of the flow among the artifact's. */
  flow: number;
  evaluation: RuleEvaluation;
  resolution: Resolution;
  rule: RuleReference;
}

function failuresOf(decisions: readonly PolicyDecision[]): Failure[] {
  return decisions.flatMap(({ policy_name, rule_evaluations }) =>
    rule_evaluations.flatMap((evaluation, rule_index) =>
      evaluation.resolutions
        .map((resolution, flow) => ({ flow, evaluation, resolution, rule: { policy_name, rule_index } }))
        .filter(({ resolution: { type } }) => type !== "rule_satisfied" && type !== "rule_not_applicable"),
    ),
  );
}

function wishOf({ evaluation, rule }: Failure): WantedAttestation[] {
  if (evaluation.rule.type !== "attestation") return [];
  const { type, name, for_control } = evaluation.rule.definition;
  return [{ type, name, for_control, rules: [rule] }];
}

/** Finds what to report in one flow for failures with the same context. */
function remediesAt(place: Place, failures: readonly Failure[]): Remedy[] {
  const trail = failures.filter(({ evaluation }) => evaluation.rule.type === "trail-compliance");
  const artifact_status = trail[0]?.resolution.context.artifact_status ?? null;
  const rules = trail.map(({ rule }) => rule);
  return [
    ...(trail.length === 0
      ? []
      : [{ kind: "make_trail_compliant" as const, ...place, artifact_status, rules }]),
    // Written out: spreading takes several times as long, and there may be as many as rules.
    ...smallestCover(failures.flatMap(wishOf)).map((wanted) => ({
      kind: "report_attestation" as const,
      flow_name: place.flow_name,
      trail_name: place.trail_name,
      type: wanted.type,
      name: wanted.name,
      for_control: wanted.for_control,
      rules: wanted.rules,
    })),
  ];
}

/**
 * Finds the smallest set of reports that makes an artifact meet the policies that decided so, flow by flow; it is empty
 * when the artifact meets them. One attestation may serve rules of several policies.
 *
 * An artifact that no flow knows has to be reported first. Which other rules then apply depends on that flow's tags;
 * named are those that apply already.
 */
export function remediesFor(fingerprint: string, decisions: readonly PolicyDecision[]): Remedy[] {
  const failures = failuresOf(decisions);
  const [first] = failures;
  if (first === undefined) return [];
  if (first.resolution.context.flow_name === null)
    return [
      { kind: "report_artifact", fingerprint, rules: failures.map(({ rule }) => rule) },
      ...remediesAt({ flow_name: null, trail_name: null }, failures),
    ];
  const byFlow = [...groupBy(failures, ({ flow }) => flow)].toSorted(([left], [right]) => left - right);
  return byFlow.flatMap(([, at]) => {
    const { flow_name, trail_name } = at[0].resolution.context;
    return remediesAt({ flow_name, trail_name }, at);
  });
}
