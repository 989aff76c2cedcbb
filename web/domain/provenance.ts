import { short } from "./links.ts";
import { type Verdict, verdictOfText } from "./verdict.ts";

/** Kinds of what a picture shows, in the order of their ranks. */
export const provenanceKinds = ["commit", "trail", "artifact", "attestation", "environment"] as const;
export type ProvenanceKind = (typeof provenanceKinds)[number];

/** Heads of the ranks. */
export const rankWords: Readonly<Record<ProvenanceKind, string>> = {
  commit: "Commit",
  trail: "Trail",
  artifact: "Artifact",
  attestation: "Evidence",
  environment: "Runs in",
};

/** A thing of a picture, as the API tells it. */
export interface ProvenanceNode {
  id: string;
  kind: ProvenanceKind;
  label: string;
  verdict: string | null;
  html_url: string;
  missing: boolean;
  count?: number | undefined;
}

/** A thing of a picture, as it is drawn. */
export interface ShownNode {
  id: string;
  kind: ProvenanceKind;
  /** On one line. */
  words: string;
  /** On the line below it, beside the verdict. */
  detail: string | undefined;
  /** All of it. */
  label: string;
  /** Undefined for what is not judged. */
  verdict: Verdict | undefined;
  /** Undefined for what is not there. */
  html_url: string | undefined;
  /** How many it stands for. */
  count: number;
  isMissing: boolean;
}

/** What a rank says when nothing is in it. */
const absent: Readonly<Record<ProvenanceKind, string>> = {
  commit: "Commit not known",
  trail: "No flow knows it",
  artifact: "Not known",
  attestation: "No evidence",
  environment: "Runs nowhere now",
};

/** Shortens digests in the name of a thing: `api/5f0c2a1` for a trail that is called like its commit. */
export function shortWords(label: string): string {
  return label.replaceAll(/\b[a-f0-9]{40,64}\b/g, short);
}

/** Divides the name of a thing into what is on its first line and on its second. */
function linesOf(kind: ProvenanceKind, label: string): { words: string; detail: string | undefined } {
  const at = label.indexOf("/");
  if (kind === "trail" && at > 0)
    return { words: label.slice(0, at), detail: shortWords(label.slice(at + 1)) };
  const last = kind === "artifact" ? label.slice(label.lastIndexOf("/") + 1) : label;
  return { words: shortWords(last === "" ? label : last), detail: undefined };
}

const judged = (kind: ProvenanceKind): boolean => kind !== "commit";

function shown(node: ProvenanceNode): ShownNode {
  const { id, kind, label, html_url, missing, count = 1 } = node;
  return {
    id,
    kind,
    ...linesOf(kind, label),
    label,
    verdict: judged(kind) ? (missing && count === 1 ? "missing" : verdictOfText(node.verdict)) : undefined,
    html_url,
    count,
    isMissing: missing,
  };
}

/** Lists what a picture shows in reading order, rank by rank. A rank with nothing in it says so. */
export function shownNodes(nodes: readonly ProvenanceNode[]): ShownNode[] {
  return provenanceKinds.flatMap((kind) => {
    const some = nodes.filter((node) => node.kind === kind).map(shown);
    if (some.length > 0) return some;
    const words = absent[kind];
    return [
      {
        id: `absent:${kind}`,
        kind,
        words,
        detail: undefined,
        label: words,
        verdict: undefined,
        html_url: undefined,
        count: 0,
        isMissing: true,
      },
    ];
  });
}

/** Says in one sentence what a picture shows. */
export function pictureWords(nodes: readonly ShownNode[]): string {
  const count = (kind: ProvenanceKind, isMissing?: boolean): number =>
    nodes
      .filter((node) => node.kind === kind && (isMissing === undefined || node.isMissing === isMissing))
      .reduce((sum, node) => sum + node.count, 0);
  const many = (number: number, one: string, several = `${one}s`): string =>
    `${number} ${number === 1 ? one : several}`;
  const missing = count("attestation", true);
  return [
    `From ${many(count("commit"), "commit")} on ${many(count("trail"), "trail")}`,
    `${many(count("attestation", false), "attestation")}${missing === 0 ? "" : `, ${missing} missing`}`,
    count("environment") === 0 ? "runs nowhere now" : `runs in ${many(count("environment"), "environment")}`,
  ].join("; ");
}
