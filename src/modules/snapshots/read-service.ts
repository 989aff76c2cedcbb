import { JsonText } from "../../contract/endpoint.ts";
import { everything, pageOfRange, parseInterval, resolveInterval } from "../../domain/snapshot/intervals.ts";
import { documentsLength, writeDocuments } from "../../domain/snapshot/documents.ts";
import type { ByteWriter } from "../../lib/byte-writer.ts";
import type { Deps } from "../deps.ts";
import { getReadableEnvironment, type Org } from "../environments/find-service.ts";
import { resolveSnapshot } from "./find-service.ts";
import { countSnapshots, findSnapshot, listSnapshots } from "./read-store.ts";

/** A text as it stands in JSON, without the quotes. */
function inner(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/**
 * A snapshot as JSON text (contract 4.2).
 * @throws AppError not_found for unknown environments and snapshots, invalid for what is no expression.
 */
export async function readSnapshot(
  deps: Pick<Deps, "db" | "clock" | "links">,
  org: Org,
  environment: string,
  text: string,
): Promise<JsonText> {
  const found = await resolveSnapshot(deps, org, environment, text);
  const { id: environment_id, name } = found.environment;
  const { index } = found;
  const address = inner(deps.links.web(`/${org.name}`));
  // Every number up to the count has its snapshot.
  const parts = (await findSnapshot(deps.db, org.id, { environment_id, index }))!;
  const page = JSON.stringify(deps.links.web(`/${org.name}/environments/${name}/snapshots/${index}`));
  const { documents, decisions } = parts;
  const head = `${parts.head.slice(0, -1)},"html_url":${page},"artifacts":[`;
  const tail = `],"applied_policies":${parts.applied_policies}}`;
  const artifacts = {
    length: documentsLength(documents, { decisions }),
    writeTo: (writer: ByteWriter) => writeDocuments(writer, documents, { decisions, address }),
  };
  return new JsonText(head, artifacts, tail);
}

/** A line of the list of snapshots. */
export interface SnapshotListItem {
  index: number;
  from: number;
  to: number;
  compliant: boolean;
  duration: number;
}

/**
 * A page of an environment's snapshots within an interval, the newest first unless reversed (contract 4.7). The latest
 * one ends at 0 and lasts until now.
 * @throws AppError not_found for an unknown environment, invalid for what is no interval.
 */
export async function readSnapshots(
  deps: Pick<Deps, "db" | "clock">,
  org: Org,
  environment: string,
  query: { interval?: string | undefined; reverse: boolean; page: number; per_page: number },
): Promise<SnapshotListItem[]> {
  const found = await getReadableEnvironment(deps.db.query, org, environment);
  const interval = query.interval === undefined ? everything : parseInterval(query.interval);
  const range = resolveInterval(interval, await countSnapshots(deps.db.query, org.id, found.id));
  if (range === undefined) return [];
  // Intervals know no moments here, so all that matters is the numbers.
  const rows = await listSnapshots(deps.db.query, org.id, found.id, pageOfRange(range, query));
  const now = deps.clock.now();
  return (query.reverse ? rows : rows.toReversed()).map(({ index, from, to, compliant }) => ({
    index,
    from,
    to: to ?? 0,
    compliant,
    duration: Math.max(0, Math.round(((to ?? now) - from) * 1_000_000) / 1_000_000),
  }));
}
