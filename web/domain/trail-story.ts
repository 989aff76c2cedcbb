import type { Verdict } from "./verdict.ts";

/** Something that happened to a trail. Its type decides which other keys there are. */
export interface TrailEventLike {
  type: string;
  timestamp: number;
  [key: string]: unknown;
}

const textIn = (event: TrailEventLike, key: string): string => {
  const value = event[key];
  return typeof value === "string" ? value : "";
};

const numberIn = (event: TrailEventLike, key: string): number => {
  const value = event[key];
  return typeof value === "number" ? value : 0;
};

/** Where an artifact runs, or ran. */
export interface Run {
  environment_name: string;
  /** The snapshot in which it started, or the one in which it was gone. */
  snapshot_index: number;
  since: number;
  isRunning: boolean;
}

/** Finds where the artifacts of a trail run or ran, by fingerprint: each environment once, by what happened there last. */
export function runsOf(events: readonly TrailEventLike[]): Map<string, Run[]> {
  const found = new Map<string, Map<string, Run>>();
  for (const event of events) {
    if (event.type !== "artifact_started_running" && event.type !== "artifact_stopped_running") continue;
    const fingerprint = textIn(event, "artifact_fingerprint");
    const environment_name = textIn(event, "environment_name");
    const runs = found.get(fingerprint) ?? new Map<string, Run>();
    runs.set(environment_name, {
      environment_name,
      snapshot_index: numberIn(event, "snapshot_index"),
      since: event.timestamp,
      isRunning: event.type === "artifact_started_running",
    });
    found.set(fingerprint, runs);
  }
  return new Map([...found].map(([fingerprint, runs]) => [fingerprint, [...runs.values()]]));
}

/** An event in words, and what it leads to. */
export interface Told {
  words: string;
  verdict: Verdict | undefined;
  attestation_id: string | undefined;
  /** A snapshot of an environment. */
  snapshot: { environment_name: string; snapshot_index: number } | undefined;
}

const attested = new Set([
  "trail_attestation_reported",
  "artifact_attestation_reported",
  "trail_attestation_for_artifact_reported",
]);

function tellAttestation(event: TrailEventLike): Told {
  const name = textIn(event, "template_reference_name") || textIn(event, "attestation_name");
  const type = textIn(event, "attestation_type");
  return {
    words: `Attestation ${name}${type === "" ? "" : ` (${type})`} was reported${event["is_reattestation"] === true ? " again" : ""}`,
    verdict: event["is_compliant"] === true ? "compliant" : "non-compliant",
    attestation_id: textIn(event, "attestation_id") || undefined,
    snapshot: undefined,
  };
}

function tellRun(event: TrailEventLike, words: string): Told {
  const environment_name = textIn(event, "environment_name");
  const what = textIn(event, "template_reference_name") || textIn(event, "artifact_fingerprint").slice(0, 7);
  return {
    words: `Artifact ${what} ${words} ${environment_name}`,
    verdict: undefined,
    attestation_id: undefined,
    snapshot: { environment_name, snapshot_index: numberIn(event, "snapshot_index") },
  };
}

/** Says what happened. Types that are not known are told by their name. */
export function tellEvent(event: TrailEventLike): Told {
  const plain = { verdict: undefined, attestation_id: undefined, snapshot: undefined };
  if (attested.has(event.type)) return tellAttestation(event);
  if (event.type === "artifact_started_running") return tellRun(event, "started running in");
  if (event.type === "artifact_stopped_running") return tellRun(event, "stopped running in");
  if (event.type === "trail_reported") return { ...plain, words: "The trail was begun or updated" };
  if (event.type === "artifact_creation_reported")
    return {
      ...plain,
      words: `Artifact ${textIn(event, "template_reference_name")} was reported: ${textIn(event, "artifact_name")}`,
    };
  return { ...plain, words: event.type.replaceAll("_", " ") };
}

/** Finds names that events tell of artifacts, by fingerprint. */
export function artifactNames(events: readonly TrailEventLike[]): Map<string, string> {
  return new Map(
    events
      .filter(({ type }) => type === "artifact_creation_reported")
      .map((event) => [textIn(event, "artifact_fingerprint"), textIn(event, "artifact_name")]),
  );
}
