import { addressOf } from "../../api/client.ts";
import { addressOfQuestion, byPages, type ExportedList, read } from "../../api/export.ts";
import { pageOfArray, pageOfData, pageOfHead, pageOfWhole } from "../../api/page.ts";
import { time } from "../../domain/csv.ts";
import { startOf } from "../../domain/periods.ts";
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

/** The environments, as the page's filters say. */
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

/** The snapshots of an environment. */
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

/** What happened in an environment. The server has a table of its own for it. */
export function logExport(
  org: string,
  env: string,
  search: ReturnType<typeof logSearch>,
  now: number,
): ExportedList {
  const { repo, since } = search;
  return {
    file: `${org}-${env}-log`,
    csv: addressOf("GET /environments/{org}/{env_name}/auditlog", {
      params: { org, env_name: env },
      query: {
        ...(repo === undefined ? {} : { repo_names: [repo] }),
        ...(since === undefined ? {} : { from_timestamp: startOf(since, now) }),
      },
    }),
    batches: byPages(async (page, signal) => {
      const { data, headers } = await read(eventsQuery(org, env, { ...search, page }, now), signal);
      return pageOfArray(data, { page, per_page: eventsPerPage }, headers);
    }),
  };
}

/** What was deployed into an environment. */
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

/** What runs, or ran, in a snapshot. */
export function artifactsExport(
  org: string,
  env: string,
  index: number,
  search: SnapshotSearch,
): ExportedList {
  return {
    file: `${org}-${env}-${index}-artifacts`,
    csv: addressOfQuestion(artifactsQuery(org, env, index, search)),
    batches: byPages(async (page, signal) => {
      const { data } = await read(artifactsQuery(org, env, index, { ...search, page }), signal);
      return pageOfData(data);
    }),
  };
}
