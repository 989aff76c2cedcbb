import { capitalized } from "../../lib/text.ts";
import type { OccurrenceFacts, OccurrenceRecord } from "./occurrence.ts";

interface Kind {
  event_type: string;
  describe: (facts: OccurrenceFacts, subject: string) => string;
}

function artifactOf({ artifact }: OccurrenceFacts): string {
  return artifact === undefined ? "An artifact" : `Artifact ${artifact.name}`;
}

function trailOf({ trail }: OccurrenceFacts): string {
  return trail === undefined ? "a trail" : `trail ${trail.name}`;
}

function attestationText(facts: OccurrenceFacts, flow: string): string {
  const { attestation } = facts;
  const verdict = attestation?.is_compliant === true ? "compliant" : "non-compliant";
  const name = attestation === undefined ? "An attestation" : `Attestation ${attestation.name} (${verdict})`;
  return `${name} was reported on ${trailOf(facts)} of flow ${flow}`;
}

/** Everything that fires, by the trigger actions name it by. The other triggers are accepted and never fire. */
const kinds = new Map<string, Kind>(
  Object.entries({
    ON_STARTED_ARTIFACT: {
      event_type: "ARTIFACT_STARTED",
      describe: (facts, environment) => `${artifactOf(facts)} started in environment ${environment}`,
    },
    ON_EXITED_ARTIFACT: {
      event_type: "ARTIFACT_EXITED",
      describe: (facts, environment) => `${artifactOf(facts)} stopped in environment ${environment}`,
    },
    ON_ALLOWED_ARTIFACT: {
      event_type: "ARTIFACT_ALLOWED",
      describe: (facts, environment) => `${artifactOf(facts)} was allowed in environment ${environment}`,
    },
    ON_NON_COMPLIANT_ENV: {
      event_type: "ENVIRONMENT_NON_COMPLIANT",
      describe: (_facts, environment) => `Environment ${environment} became non-compliant`,
    },
    ON_COMPLIANT_ENV: {
      event_type: "ENVIRONMENT_COMPLIANT",
      describe: (_facts, environment) => `Environment ${environment} became compliant`,
    },
    ON_SILENT_ENV: {
      event_type: "ENVIRONMENT_SILENT",
      describe: (_facts, environment) => `Environment ${environment} has not been reported on for too long`,
    },
    ON_STARTED_TRAIL: {
      event_type: "TRAIL_STARTED",
      describe: (facts, flow) => `${capitalized(trailOf(facts))} began in flow ${flow}`,
    },
    ON_ATTESTED_PROVENANCE: {
      event_type: "PROVENANCE_ATTESTED",
      describe: (facts, flow) => `${artifactOf(facts)} was reported on ${trailOf(facts)} of flow ${flow}`,
    },
    ON_ATTESTATION: { event_type: "ATTESTATION_REPORTED", describe: attestationText },
  } satisfies Record<string, Kind>),
);

/** Names what happened as notifications do, for instance `ARTIFACT_STARTED`. */
export function eventTypeOf(trigger: string): string {
  return kinds.get(trigger)?.event_type ?? trigger.replace(/^ON_/, "");
}

/** Says what happened, in one sentence without a full stop. Names in it are as users gave them. */
export function describeOccurrence({ trigger, subject, facts }: OccurrenceRecord): string {
  return kinds.get(trigger)?.describe(facts, subject.name) ?? `${eventTypeOf(trigger)} in ${subject.name}`;
}
