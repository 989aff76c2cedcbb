/** An artifact's origin, as far as it is known. */
export interface ProvenanceFacts {
  flow: string;
  trail: string | null;
  /** Verdict in its flow, for instance `COMPLIANT`. */
  status: string | null;
  commit: string | null;
  commit_url: string | null;
  build_url: string | null;
}

/** The artifact that a notification shows. */
export interface ArtifactFacts {
  name: string;
  /** SHA-256 in lower-case hex. */
  fingerprint: string;
  /** Null or left out for an artifact that no flow knows. */
  provenance?: ProvenanceFacts | null;
}

/** What a notification tells about an occurrence; what does not belong to it is left out. */
export interface OccurrenceFacts {
  /** The snapshot it was seen in, and whether that one complies; null when no policy says anything. */
  snapshot?: { index: number; compliant: boolean | null };
  artifact?: ArtifactFacts;
  /** The trail it happened on, with the verdict it had afterwards. */
  trail?: { name: string; status: string };
  attestation?: { id: string; name: string; type: string; is_compliant: boolean };
}

/** Something an action may want to be told of. */
export interface Occurrence {
  /** As actions name it: `ON_STARTED_ARTIFACT`, … */
  trigger: string;
  /** Where it happened: an environment or a flow. */
  subject: { kind: "environment" | "flow"; id: string; name: string };
  /** Unix seconds. */
  at: number;
  /** What the notification tells about it. */
  facts: OccurrenceFacts;
}

/** An occurrence as it is kept with a delivery. */
export type OccurrenceRecord = Omit<Occurrence, "subject"> & {
  subject: { kind: "environment" | "flow"; name: string };
};
