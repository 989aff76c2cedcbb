import { trailPage } from "../../../domain/pages.ts";
import type { GitCommit } from "../../../contract/reports.ts";
import type { EventGitCommitInfo, GitCommitInfo, Template, TrailEvent } from "../../../contract/trails.ts";
import { ExactJson, writeJson } from "../../../lib/exact-json.ts";
import { wireId } from "../../../lib/ids.ts";
import { textPieces } from "../../../lib/text.ts";
import type { Deps } from "../../kernel/deps.ts";
import { knownTemplates } from "../flows/known-templates.ts";
import type { TrailEventRow } from "./event-store.ts";
import type { ReadTrailRow } from "./list-store.ts";
import type { MatrixTrailRow } from "./search-store.ts";

/** Shows a commit in what events tell of a trail: what is not known is null. */
export function showCommit(stored: unknown): Pick<EventGitCommitInfo, keyof GitCommitInfo> | null {
  if (stored === null || stored === undefined) return null;
  const commit = stored as GitCommit;
  return {
    sha1: commit.sha1,
    message: commit.message ?? null,
    author: commit.author ?? null,
    branch: commit.branch ?? null,
    timestamp: commit.timestamp ?? null,
    url: commit.url ?? null,
  };
}

/** Makes message and author texts in any case, for clients that print them as they are. */
export function withTexts<C extends { message: string | null; author: string | null }>(commit: C) {
  return { ...commit, message: commit.message ?? "", author: commit.author ?? "" };
}

/** Shows the commit of a trail. Clients print its time as well, and take nothing but a number for one. */
function showTrailCommit(stored: unknown): GitCommitInfo | null {
  const shown = showCommit(stored);
  return shown && { ...withTexts(shown), timestamp: shown.timestamp ?? 0 };
}

/** Most characters that a matrix shows of a commit's message. */
const shownMessage = 200;

/** Prints a trail as a row of a matrix, as JSON text. Of the message of its commit the first line is shown. */
export function printMatrixTrail(
  deps: Pick<Deps, "links">,
  org: { name: string },
  row: MatrixTrailRow,
): string {
  const commit = showTrailCommit(row.git_commit_info);
  const message = commit?.message.split("\n", 1)[0]?.slice(0, shownMessage).toWellFormed() ?? "";
  const page = trailPage({ flow_name: row.flow_name, trail_name: row.name });
  return writeJson({
    name: row.name,
    flow_name: row.flow_name,
    git_commit_info: commit && { ...commit, message },
    created_at: row.created_at,
    last_modified_at: row.last_modified_at,
    compliance_state: row.compliance_state,
    compliance_status: ExactJson.ofText(row.compliance_status),
    html_url: deps.links.web(`/${org.name}${page}`),
  });
}

/** Shows the commit of an event, with everything that is known of it. */
export function showEventCommit(stored: unknown): EventGitCommitInfo | null {
  const shown = showCommit(stored);
  if (shown === null) return null;
  const commit = stored as GitCommit;
  return {
    ...shown,
    author_username: commit.author_username ?? null,
    parents: commit.parents ?? null,
    verified: commit.verified ?? null,
    signature_state: commit.signature_state ?? null,
  };
}

/** Reads each template once: the trails of a list mostly share theirs. */
async function templateReader(
  orgId: string,
  rows: readonly ReadTrailRow[],
): Promise<(trail: ReadTrailRow) => Template> {
  const known = new Map<string, Template>();
  const templateOf = await knownTemplates(
    orgId,
    rows.map(({ template }) => template),
  );
  return (trail) => {
    const template = known.get(trail.template_id) ?? {
      ...templateOf(trail.template),
      content: trail.template,
    };
    known.set(trail.template_id, template);
    return template;
  };
}

/**
 * Prints trails of one organization as JSON text (contract flows 6.1), with their events if given. Text, because verdicts
 * are stored as text, in an order that an object would not keep.
 * @param rows those that are going to be printed.
 */
export async function trailPrinter(
  deps: Pick<Deps, "links">,
  org: { id: string; name: string },
  rows: readonly ReadTrailRow[],
): Promise<(row: ReadTrailRow, events?: ExactJson) => string> {
  const templateOf = await templateReader(org.id, rows);
  return (row, events) => {
    const before = {
      name: row.name,
      description: row.description,
      git_commit_info: showTrailCommit(row.git_commit_info),
      origin_url: row.origin_url,
      user_data: ExactJson.ofText(row.user_data),
      repo_ids: row.repo_ids,
      last_modified_at: row.last_modified_at,
      created_at: row.created_at,
    };
    const after = {
      template: templateOf(row),
      compliance_state: row.compliance_state,
      is_compliant: row.compliance_state === "COMPLIANT",
      events,
      created_by: row.created_by_name,
      flow: { name: row.flow_name, tags: row.flow_tags },
      external_urls: row.external_urls,
      html_url: deps.links.web(
        `/${org.name}${trailPage({ flow_name: row.flow_name, trail_name: row.name })}`,
      ),
    };
    const opened = writeJson(before).slice(0, -1);
    return `${opened},"compliance_status":${row.compliance_status},${writeJson(after).slice(1)}`;
  };
}

/** An event ready to be written. */
type ShownEvent = Omit<TrailEvent, "repo_info"> & { repo_info: ExactJson | null };

interface EventData extends Record<string, unknown> {
  git_commit_info?: unknown;
  repo_info?: unknown;
  trail_data_json?: { git_commit_info?: unknown };
}

/** Shows events of one trail (contract flows 6.3). */
function showEvent(orgId: string, trail: ReadTrailRow): (event: TrailEventRow) => ShownEvent {
  return ({ type, occurred_at, data, repo_info }) => {
    const { git_commit_info, repo_info: _, ...rest } = data as EventData;
    return {
      org_id: wireId(orgId),
      flow_id: wireId(trail.flow_id),
      trail_id: wireId(trail.id),
      timestamp: occurred_at,
      type,
      git_commit_info: showEventCommit(git_commit_info ?? rest.trail_data_json?.git_commit_info),
      repo_info: repo_info === null ? null : ExactJson.ofText(repo_info),
      ...rest,
    };
  };
}

/** Prints a trail in full, as JSON text in pieces: it may have any number of events. */
export async function* printTrail(
  deps: Pick<Deps, "links">,
  org: { id: string; name: string },
  trail: { row: ReadTrailRow; events: () => AsyncIterable<TrailEventRow[]> },
): AsyncGenerator<string> {
  const print = await trailPrinter(deps, org, [trail.row]);
  const show = showEvent(org.id, trail.row);
  // Names the place of the events: no text of a trail has a control character in it as it is.
  const [before, after] = print(trail.row, ExactJson.ofText("\0")).split("\0") as [string, string];

  yield* textPieces(`${before}[`);
  let separator = "";
  for await (const events of trail.events())
    for (const event of events) {
      yield separator + writeJson(show(event));
      separator = ",";
    }
  yield* textPieces(`]${after}`);
}
