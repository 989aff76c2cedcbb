import { addressOf } from "../../api/client.ts";
import { addressOfQuestion, byPages, type ExportedList, read } from "../../api/export.ts";
import { pageOfArray, pageOfData, pageOfHead, pageOfWhole } from "../../api/page.ts";
import { artifactColumns } from "../../domain/artifact-columns.ts";
import { time } from "../../domain/csv.ts";
import type { Some } from "../../domain/exports.ts";
import { startOf } from "../../domain/periods.ts";
import { filterRows, sortRows } from "../../domain/snapshot-rows.ts";
import {
  artifactsQuery,
  deploymentsQuery,
  type deploymentsSearch,
  environmentsQuery,
  type environmentsSearch,
  eventsPerPage,
  eventsQuery,
  type logSearch,
  type SnapshotSearch,
  snapshotsPerPage,
  snapshotsQuery,
  type timelineSearch,
} from "./queries.ts";
import { rowOfListed } from "./rows.ts";

/** Exports the environments, as the page's filters say. */
export function environmentsExport(org: string, search: ReturnType<typeof environmentsSearch>): ExportedList {
  return {
    file: `${org}-environments`,
    columns: [
      "name",
      "type",
      "description",
      "state",
      "is_stale",
      time("stale_since"),
      time("last_changed_at"),
      time("last_reported_at"),
      time("last_modified_at"),
      "snapshot_count",
      "artifact_compliance_count.true",
      "artifact_compliance_count.false",
      "artifact_compliance_count.null",
      "policies",
      "tags",
      "included_environments",
      "space_id",
      time("archived_at"),
    ],
    batches: byPages(async (page, signal) => {
      const { data } = await read(environmentsQuery(org, { ...search, page }), signal);
      return Array.isArray(data) ? pageOfWhole(data) : pageOfHead(data, data.environments);
    }),
  };
}

/** Exports the snapshots of an environment. */
export function snapshotsExport(
  org: string,
  env: string,
  search: ReturnType<typeof timelineSearch>,
  now: number,
): ExportedList {
  return {
    file: `${org}-${env}-snapshots`,
    columns: [
      "index",
      time("from"),
      time("to"),
      "duration",
      "compliant",
      "has_policies",
      "policies_changed",
      "artifact_count",
      "non_compliant_count",
      "started",
      "exited",
      "changed",
    ],
    batches: byPages(async (page, signal) => {
      const { data, headers } = await read(snapshotsQuery(org, env, { ...search, page }, now), signal);
      return pageOfArray(data, { page, per_page: snapshotsPerPage }, headers);
    }),
  };
}

/** Exports what happened in an environment. The server has a table of its own for it. */
export function logExport(
  org: string,
  env: string,
  search: ReturnType<typeof logSearch>,
  now: number,
): ExportedList {
  const { repo, since, until } = search;
  return {
    file: `${org}-${env}-log`,
    csv: addressOf("GET /environments/{org}/{env_name}/auditlog", {
      params: { org, env_name: env },
      query: {
        ...(repo === undefined ? {} : { repo_names: [repo] }),
        ...(since === undefined ? {} : { from_timestamp: startOf(since, until ?? now) }),
        to_timestamp: until,
      },
    }),
    batches: byPages(async (page, signal) => {
      const { data, headers } = await read(eventsQuery(org, env, { ...search, page }, now), signal);
      return pageOfArray(data, { page, per_page: eventsPerPage }, headers);
    }),
  };
}

/** Exports what was deployed into an environment. */
export function deploymentsExport(
  org: string,
  env: string,
  search: ReturnType<typeof deploymentsSearch>,
  now: number,
): ExportedList {
  return {
    file: `${org}-${env}-deployments`,
    csv: addressOfQuestion(deploymentsQuery(org, env, search, now)),
    batches: byPages(async (page, signal) => {
      const { data } = await read(deploymentsQuery(org, env, { ...search, page }, now), signal);
      return pageOfHead(data, data.deployments);
    }),
  };
}

/** Reads one page after the other of what runs, or ran, in a snapshot. */
function artifactPages(org: string, env: string, index: number, search: SnapshotSearch) {
  return byPages(async (page, signal) => {
    const { data } = await read(artifactsQuery(org, env, index, { ...search, page }), signal);
    return pageOfData(data);
  });
}

/** Reads a snapshot, and keeps what its page shows of it, in the order in which it does. */
function asFilteredByPage(
  org: string,
  env: string,
  index: number,
  { q: text, verdict, provenance, change, sort = "verdict", direction = "asc" }: SnapshotSearch,
): ExportedList["batches"] {
  return async function* batches(signal): AsyncGenerator<Some> {
    const rows = [];
    for await (const { items } of artifactPages(org, env, index, { sort: "name" })(signal))
      rows.push(...items.map((item) => ({ ...rowOfListed(item), item })));
    const kept = sortRows(filterRows(rows, { text, verdict, provenance, change }), sort, direction);
    yield { items: kept.map(({ item }) => item), total: kept.length };
  };
}

/**
 * Exports what runs, or ran, in a snapshot.
 * @param isHeld its page has all of it and filters it by itself, in other ways than the server does.
 */
export function artifactsExport(
  org: string,
  env: string,
  index: number,
  search: SnapshotSearch,
  isHeld: boolean,
): ExportedList {
  const file = `${org}-${env}-${index}-artifacts`;
  if (isHeld) return { file, columns: artifactColumns, batches: asFilteredByPage(org, env, index, search) };
  return {
    file,
    csv: addressOfQuestion(artifactsQuery(org, env, index, search)),
    batches: artifactPages(org, env, index, search),
  };
}
