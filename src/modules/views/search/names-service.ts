import type { NamedThing } from "../../../contract/search.ts";
import { artifactPage, flowPage, trailPage } from "../../../domain/pages.ts";
import type { Org } from "../../../domain/principal.ts";
import {
  type NameMatch,
  rankMatches,
  readSearch,
  type SearchKind,
  searchKinds,
} from "../../../domain/search-names.ts";
import { wireId } from "../../../lib/ids.ts";
import type { Deps } from "../../kernel/deps.ts";
import { findDigests, findNames } from "./names-store.ts";
import { listPlaces, type PlaceRow } from "./places-store.ts";

/** Finds fingerprints and commits, if any are asked for. */
async function matchDigests(
  deps: Pick<Deps, "db">,
  org: Org,
  digits: string | undefined,
  { kinds, limit }: { kinds: readonly SearchKind[]; limit: number },
): Promise<NameMatch[]> {
  if (digits === undefined || !(kinds.includes("artifact") || kinds.includes("commit"))) return [];
  const { built, ran, commits, attested } = await findDigests(deps.db, org.id, digits, limit);
  const matches = (kind: SearchKind, names: readonly string[]): NameMatch[] =>
    kinds.includes(kind)
      ? [...new Set(names)].toSorted().map((name) => {
          return { kind, ref: null, name, quality: name === digits ? "exact" : "prefix" };
        })
      : [];
  return [...matches("artifact", [...built, ...ran]), ...matches("commit", [...commits, ...attested])];
}

function artifactAddress({ flow_name, fingerprint, report_id }: PlaceRow): string {
  if (fingerprint === null) return flowPage({ flow_name: flow_name ?? "" });
  if (flow_name === null || report_id === null) return `/artifacts/${fingerprint}`;
  return artifactPage({ flow_name, artifact_id: report_id }, fingerprint);
}

/** Writes the path of the page of what was found, below the organization's. */
function pathOf(row: PlaceRow): string {
  const { kind, name, identifier } = row;
  const trail = { flow_name: row.flow_name ?? "", trail_name: row.trail_name ?? "" };
  switch (kind) {
    case "environment":
      return `/environments/${name}`;
    case "flow":
      return flowPage({ flow_name: name });
    case "artifact":
      return artifactAddress(row);
    case "trail":
      return trailPage(trail);
    case "commit":
      return `/commits/${name}`;
    case "repo":
      return `/repos/${name.split("/").map(encodeURIComponent).join("/")}`;
    case "policy":
      return `/policies/${name}`;
    case "control":
      return `/controls/${identifier ?? ""}`;
    case "attestation_type":
      return `/attestation-types/${name}`;
    case "pull_request":
    case "ticket":
      return `${trailPage(trail)}?attestation_id=${wireId(row.report_id ?? "")}`;
  }
}

/** Leaves out attestations that say of the same trail what a newer one says. */
function newestOnTrail(rows: readonly PlaceRow[]): PlaceRow[] {
  const seen = new Set<string>();
  return rows.filter(({ kind, matched, flow_name, trail_name }) => {
    if (kind !== "pull_request" && kind !== "ticket") return true;
    const key = JSON.stringify([kind, matched, flow_name, trail_name]);
    return !seen.has(key) && seen.add(key);
  });
}

/**
 * Finds anything by what it is called, the best matches first. Two statements, one more for what may be a digest; none
 * takes longer the more there is.
 */
export async function searchNames(
  deps: Pick<Deps, "db" | "links">,
  org: Org,
  { q, kind, limit }: { q: string; kind?: SearchKind | undefined; limit: number },
): Promise<NamedThing[]> {
  const texts = readSearch(q);
  const kinds = kind === undefined ? searchKinds : [kind];
  const [named, digests] = await Promise.all([
    findNames(deps.db, org.id, texts, kinds),
    matchDigests(deps, org, texts.digits, { kinds, limit }),
  ]);
  const matches = rankMatches([...named, ...digests], limit);
  if (matches.length === 0) return [];
  const rows = await listPlaces(deps.db, org.id, matches, texts.name);
  return newestOnTrail(rows).map((row) => ({
    kind: row.kind,
    name: row.name,
    context: row.context,
    matched: row.matched,
    html_url: deps.links.web(`/${org.name}${pathOf(row)}`),
  }));
}
