/** An attestation that a template asks for. */
interface Expected {
  name: string;
  /** `*` for any. */
  type: string;
}

/** What a template asks for. */
export interface TemplateLike {
  trail: {
    attestations: readonly Expected[];
    artifacts: readonly { name: string; attestations: readonly Expected[] }[];
  };
}

/** What became of something between two templates. */
type AskedChange = "same" | "new" | "gone" | "changed";

/** An attestation that one of two templates asks for. */
export interface AskedAttestation {
  name: string;
  type: string;
  change: AskedChange;
  /** The type that was asked for before; undefined unless it is another one. */
  was: string | undefined;
}

/** A place that evidence belongs to, and what is asked there. */
export interface AskedPlace {
  /** Name of the artifact; null for the trail itself. */
  artifact: string | null;
  change: AskedChange;
  attestations: AskedAttestation[];
}

interface Place {
  artifact: string | null;
  attestations: readonly Expected[];
}

const placesOf = ({ trail }: TemplateLike): Place[] => [
  ...(trail.attestations.length === 0 ? [] : [{ artifact: null, attestations: trail.attestations }]),
  ...trail.artifacts.map(({ name, attestations }) => ({ artifact: name, attestations })),
];

function changesOf(before: readonly Expected[], after: readonly Expected[]): AskedAttestation[] {
  const was = new Map(before.map(({ name, type }) => [name, type]));
  const now = new Set(after.map(({ name }) => name));
  const asked = after.map(({ name, type }): AskedAttestation => {
    const old = was.get(name);
    if (old === undefined) return { name, type, change: "new", was: undefined };
    return old === type
      ? { name, type, change: "same", was: undefined }
      : { name, type, change: "changed", was: old };
  });
  const gone = before
    .filter(({ name }) => !now.has(name))
    .map(({ name, type }): AskedAttestation => ({ name, type, change: "gone", was: undefined }));
  return [...asked, ...gone];
}

/**
 * Lists what a template asks for, in its order, each with what it is against an earlier template; behind that what the earlier one asked
 * for and this one does not.
 */
export function askedSince(before: TemplateLike, after: TemplateLike): AskedPlace[] {
  const old = new Map(placesOf(before).map((place) => [place.artifact, place.attestations]));
  const places = placesOf(after);
  const now = new Set(places.map(({ artifact }) => artifact));
  return [
    ...places.map(({ artifact, attestations }): AskedPlace => {
      const known = old.get(artifact);
      const change = known === undefined ? "new" : "same";
      return { artifact, change, attestations: changesOf(known ?? [], attestations) };
    }),
    ...placesOf(before)
      .filter(({ artifact }) => !now.has(artifact))
      .map(({ artifact, attestations }): AskedPlace => ({
        artifact,
        change: "gone",
        attestations: changesOf(attestations, []),
      })),
  ];
}

/** Counts what a template asks for: attestations, and artifacts. */
export function countAsked({ trail }: TemplateLike): { attestations: number; artifacts: number } {
  const lists = [trail.attestations, ...trail.artifacts.map(({ attestations }) => attestations)];
  return {
    attestations: lists.reduce((sum, list) => sum + list.length, 0),
    artifacts: trail.artifacts.length,
  };
}
