import { collected, sorted, type Steps } from "../../lib/steps.ts";
import { compareText } from "../../lib/text.ts";
import { artifactPage } from "../pages.ts";
import { compareUrl } from "./compare-url.ts";
import {
  byFingerprint,
  type DiffableArtifact,
  type DiffArtifact,
  type DiffSide,
  type Group,
  showGroup,
} from "./diff.ts";
import { type Pairable, pairVersions } from "./pairing.ts";

/** A running artifact, as far as a detailed diff needs it. What its first flow says is null without one. */
export interface DetailableArtifact extends DiffableArtifact {
  /** Null without policies. */
  compliant: boolean | null;
  trail_name: string | null;
  /** Of its report in that flow. */
  artifact_id: string | null;
  template_reference_name: string | null;
  git_commit: string | null;
  /** Seconds from the commit to the first instance. */
  commit_lead_time: number | null;
  /** Fingerprints that ran before it. */
  follows: readonly string[];
}

/** One artifact of a detailed diff. */
interface DetailedArtifact extends DiffArtifact {
  compliant: boolean | null;
  /** In the first snapshot, of what is in both. */
  s1_compliant?: boolean | null;
  trail_name: string | null;
  template_reference_name: string | null;
  git_commit: string | null;
  html_url: string | null;
}

/** One thing in another version on each side. */
interface PairedArtifact {
  before: DetailedArtifact;
  after: DetailedArtifact;
  /** Where the two commits are compared. */
  diff_url: string | null;
  /** Seconds, of the second one. */
  commit_lead_time: number | null;
}

/** Two snapshots told apart. Each artifact is in one of these lists. */
export interface DetailedDiff {
  /** Only in the first. */
  gone: DetailedArtifact[];
  /** Only in the second. */
  come: DetailedArtifact[];
  paired: PairedArtifact[];
  /** In both, with different numbers of instances. */
  changed: DetailedArtifact[];
  /** In both, with the same number. */
  same: DetailedArtifact[];
}

type Side = DiffSide<DetailableArtifact>;
type Detailed = Group<DetailableArtifact>;

/** An artifact that is on one side only. */
interface Lone extends Pairable {
  group: Detailed;
}

function loneIn({ groups }: Side, others: Side): Steps<Lone[]> {
  return collected(groups, ([key, group]) => {
    if (others.groups.has(key)) return undefined;
    const { name, fingerprint, flow_name, template_reference_name, follows } = group.first;
    return { key, group, name, fingerprint, flow_name, template_reference_name, follows };
  });
}

/** Shows artifacts in detail, with addresses below the organization's page. */
class Shower {
  readonly #link: (path: string) => string;

  constructor(link: (path: string) => string) {
    this.#link = link;
  }

  detail(group: Detailed): Omit<DetailedArtifact, keyof DiffArtifact> & DiffArtifact {
    const { first } = group;
    const { flow_name, artifact_id, fingerprint } = first;
    const isKnown = flow_name !== null && artifact_id !== null;
    return {
      ...showGroup(group),
      compliant: first.compliant,
      trail_name: first.trail_name,
      template_reference_name: first.template_reference_name,
      git_commit: first.git_commit,
      html_url: isKnown ? this.#link(artifactPage({ flow_name, artifact_id }, fingerprint)) : null,
    };
  }

  lone({ group }: Lone): DetailedArtifact {
    return { ...this.detail(group), instance_count: group.count };
  }

  pair({ before, after }: { before: Lone; after: Lone }): PairedArtifact {
    return {
      before: this.lone(before),
      after: this.lone(after),
      diff_url: compareUrl(before.group.first.commit_url, after.group.first.commit_url),
      commit_lead_time: after.group.first.commit_lead_time,
    };
  }

  both(was: Detailed, group: Detailed): DetailedArtifact {
    const counts =
      was.count === group.count
        ? { instance_count: group.count }
        : { s1_instance_count: was.count, s2_instance_count: group.count };
    return { ...this.detail(group), ...counts, s1_compliant: was.first.compliant };
  }
}

/**
 * Compares two snapshots in detail: what is only in one of them is paired as far as it is a version of the same thing.
 * @param link makes the address of a path below the organization's page.
 */
export function* detailedDiff(
  first: Side,
  second: Side,
  link: (path: string) => string,
): Steps<DetailedDiff> {
  const shower = new Shower(link);
  const gone = yield* loneIn(first, second);
  const come = yield* loneIn(second, first);
  const pairs = yield* pairVersions(gone, come);
  const isPaired = new Set(pairs.flatMap(({ before, after }) => [before, after]));
  const rest = (side: readonly Lone[]): Steps<DetailedArtifact[]> =>
    collected(side, (one) => (isPaired.has(one) ? undefined : shower.lone(one)));
  const both = (isSame: boolean): Steps<DetailedArtifact[]> =>
    collected(second.groups, ([key, group]) => {
      const was = first.groups.get(key);
      return was === undefined || (was.count === group.count) !== isSame
        ? undefined
        : shower.both(was, group);
    });
  return {
    gone: yield* sorted(yield* rest(gone), byFingerprint),
    come: yield* sorted(yield* rest(come), byFingerprint),
    paired: yield* collected(pairs, (pair) => shower.pair(pair)),
    changed: yield* sorted(yield* both(false), byFingerprint),
    same: yield* sorted(yield* both(true), byFingerprint),
  };
}

/** A policy that judged snapshots in different versions, or only one of them. */
export interface PolicyDifference {
  policy_name: string;
  /** Null where it did not apply. */
  before_version: number | null;
  after_version: number | null;
}

/** Lists policies whose versions differ, by name. Each side is policy names with the version that was applied. */
export function differingPolicies(
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
): PolicyDifference[] {
  const names = [...new Set([...before.keys(), ...after.keys()])].toSorted(compareText);
  return names.flatMap((policy_name) => {
    const [before_version, after_version] = [before.get(policy_name) ?? null, after.get(policy_name) ?? null];
    return before_version === after_version ? [] : [{ policy_name, before_version, after_version }];
  });
}
