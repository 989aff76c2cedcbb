import { groupBy } from "../lib/group.ts";
import { nameWithoutTag } from "./artifact-name.ts";
import { searchPattern } from "./search.ts";

/** Kinds of things that a search finds, in the order in which equally good matches are shown. */
export const searchKinds = [
  "environment",
  "flow",
  "artifact",
  "trail",
  "commit",
  "repo",
  "policy",
  "control",
  "attestation_type",
  "pull_request",
  "ticket",
] as const;
export type SearchKind = (typeof searchKinds)[number];

/** Longest text that is searched for: names are kept up to here. */
export const longestSearch = 128;

/** What to look for, as it was made of a text. */
export interface SearchedTexts {
  /** Of all kinds but artifacts. */
  name: string;
  /** Of artifacts: without tag and digest. */
  base: string;
  /** The beginning of a fingerprint or commit, in lower case; undefined for what can be none. */
  digits: string | undefined;
}

/**
 * Reads what somebody typed or pasted: addresses lose their scheme, numbers of pull requests their mark, and the digest of
 * an image is a fingerprint.
 */
export function readSearch(text: string): SearchedTexts {
  const typed = text.trim().replace(/^[a-z]+:\/\//i, "");
  const digits = /(?:^|@)sha256:([0-9a-f]{5,64})$/i.exec(typed)?.[1] ?? typed;
  return {
    name: /^[#!]\d+$/.test(typed) ? typed.slice(1) : typed,
    base: nameWithoutTag(typed.replace(/@sha256:[0-9a-f]+$/i, "")),
    digits: searchPattern.test(digits) ? digits.toLowerCase() : undefined,
  };
}

/** How well something matches, best first: it is the text, begins with it, has a word that does, contains it. */
export const matchQualities = ["exact", "prefix", "word", "contains"] as const;
type MatchQuality = (typeof matchQualities)[number];

/** Something that was found by what it is called. */
export interface NameMatch {
  kind: SearchKind;
  /** Id of the thing; null for what its name identifies. */
  ref: string | null;
  /** What it is called, in the part that matches. */
  name: string;
  quality: MatchQuality;
}

function better(left: NameMatch, right: NameMatch): number {
  return matchQualities.indexOf(left.quality) - matchQualities.indexOf(right.quality);
}

/** Kinds that are told apart by their names, too: an id is that of a flow, or of an attestation that names several. */
const namedKinds: ReadonlySet<SearchKind> = new Set(["artifact", "pull_request", "ticket"]);

function identityOf({ kind, ref, name }: NameMatch): string {
  return JSON.stringify(ref === null || namedKinds.has(kind) ? [ref, name] : [ref]);
}

/** Keeps the best match of each thing, in the order of quality; the given order decides between equal ones. */
function bestOfEach(matches: readonly NameMatch[]): NameMatch[] {
  const best = new Map<string, NameMatch>();
  for (const match of matches.toSorted(better)) {
    const key = identityOf(match);
    if (!best.has(key)) best.set(key, match);
  }
  return [...best.values()];
}

/** A match with its places: among all of its kind, and among those of its quality. */
interface Placed {
  match: NameMatch;
  place: number;
  placeInQuality: number;
}

function placesOf(matches: readonly NameMatch[]): Placed[] {
  const counts = new Map<MatchQuality, number>();
  return bestOfEach(matches).map((match, place) => {
    const placeInQuality = counts.get(match.quality) ?? 0;
    counts.set(match.quality, placeInQuality + 1);
    return { match, place, placeInQuality };
  });
}

/** The best first; of equally good ones the first of each kind, then the second of each kind, and so on. */
function inTurns(left: Placed, right: Placed): number {
  return (
    better(left.match, right.match) ||
    left.placeInQuality - right.placeInQuality ||
    searchKinds.indexOf(left.match.kind) - searchKinds.indexOf(right.match.kind)
  );
}

/**
 * Chooses what is shown of everything that was found, the best first. No kind hides the others: each has an equal share of
 * the places, if it needs them, whatever the quality.
 */
export function rankMatches(matches: readonly NameMatch[], limit: number): NameMatch[] {
  const kinds = [...groupBy(matches, ({ kind }) => kind).values()];
  const share = Math.max(1, Math.floor(limit / kinds.length));
  const placed = kinds.flatMap(placesOf).sort(inTurns);
  const [sure, others] = [
    placed.filter(({ place }) => place < share),
    placed.filter(({ place }) => place >= share),
  ];
  const chosen = [...sure, ...others].slice(0, limit);
  return chosen.sort(inTurns).map(({ match }) => match);
}
