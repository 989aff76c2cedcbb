import { parseUrl } from "../../lib/url.ts";
import { fingerprintPattern, gitCommitPattern } from "../names.ts";
import { attestationName, type AttestationName, flowName, type FlowNameOptions, trailName } from "./names.ts";
import { type Analysis, checkTaskId, NoPlan, quoted, readAnalysis } from "./payload.ts";
import { property } from "./properties.ts";

/** A flow or trail to make if it is not there. */
interface Place {
  name: string;
  /** For a new one only; empty when the scanner gave none. */
  description: string;
}

/** What is known of the commit that was analysed. */
interface AnalysedCommit {
  sha1: string;
  message: null;
  author: null;
  branch: string | null;
  timestamp: null;
  url: null;
}

/** The attestation to record. */
interface PlannedAttestation extends AttestationName {
  /** An artifact that has to be known on the trail. */
  artifact_fingerprint: string | null;
  git_commit_info: AnalysedCommit | null;
  is_compliant: boolean;
  description: string | null;
  origin_url: string | null;
}

/** Everything one delivery is to bring about. */
export interface DeliveryPlan {
  flow: Place;
  trail: Place;
  attestation: PlannedAttestation;
}

/** A plan, or why there is none. */
export type Decision = { kind: "plan"; plan: DeliveryPlan } | { kind: "ignored"; reason: string };

function checkStatus(analysis: Analysis): void {
  const status = analysis.status ?? "";
  if (status === "") throw new NoPlan("The analysis has no status");
  if (status !== "SUCCESS") throw new NoPlan(`The analysis ended with status ${quoted(status)}`);
}

/** Reads the branch's name; a pull request's is its number, which is no branch. */
function branchOf(analysis: Analysis): string | null {
  const { name, type } = analysis.branch ?? {};
  return type === "PULL_REQUEST" ? null : name || null;
}

function gitCommit(analysis: Analysis): AnalysedCommit | null {
  const given = property(analysis, "git_commit");
  if (given !== undefined && !gitCommitPattern.test(given))
    throw new NoPlan(`Git commit ${quoted(given)} is not a full SHA-1`);
  const sha1 = given ?? analysis.revision?.trim() ?? "";
  if (!gitCommitPattern.test(sha1)) return null;
  return { sha1, message: null, author: null, branch: branchOf(analysis), timestamp: null, url: null };
}

function artifactFingerprint(analysis: Analysis): string | null {
  const given = property(analysis, "artifact_fingerprint");
  if (given === undefined) return null;
  if (!fingerprintPattern.test(given))
    throw new NoPlan(`Artifact fingerprint ${quoted(given)} is not a SHA-256`);
  return given;
}

function isWebUrl(value: string | null | undefined): value is string {
  return (
    value !== null && value !== undefined && /^https?:\/\//i.test(value) && parseUrl(value) !== undefined
  );
}

function planAttestation(analysis: Analysis): PlannedAttestation {
  const name = attestationName(analysis);
  const git_commit_info = gitCommit(analysis);
  const artifact_fingerprint = artifactFingerprint(analysis);
  if (name.target_artifact !== null && git_commit_info === null && artifact_fingerprint === null)
    throw new NoPlan(
      `Attestation name '${name.target_artifact}.${name.name}' requires at least one of: artifact_fingerprint or git_commit`,
    );
  const gate = analysis.qualityGate;
  return {
    ...name,
    artifact_fingerprint,
    git_commit_info,
    is_compliant: gate?.status === "OK",
    description: gate === null || gate === undefined ? "The analysis has no quality gate" : null,
    origin_url: [analysis.branch?.url, analysis.project?.url].find(isWebUrl) ?? null,
  };
}

function makePlan(payload: Record<string, unknown>, options: FlowNameOptions): DeliveryPlan {
  const analysis = readAnalysis(payload);
  checkTaskId(analysis);
  checkStatus(analysis);
  return {
    flow: {
      name: flowName(analysis, options),
      description: property(analysis, "flow_description") ?? "",
    },
    trail: { name: trailName(analysis), description: property(analysis, "trail_description") ?? "" },
    attestation: planAttestation(analysis),
  };
}

/**
 * Decides what a delivery of a code-quality server is to bring about: flow, trail, and a `sonar` attestation whose
 * verdict is the quality gate's. An analysis without a gate is recorded as non-compliant: evidence that nothing was
 * checked. Every JSON object gets an answer; nothing is thrown.
 */
export function planDelivery(payload: Record<string, unknown>, options: FlowNameOptions): Decision {
  try {
    return { kind: "plan", plan: makePlan(payload, options) };
  } catch (error) {
    if (error instanceof NoPlan) return { kind: "ignored", reason: error.message };
    throw error;
  }
}
