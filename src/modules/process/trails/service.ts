import type { CreateTrail } from "../../../contract/trails.ts";
import type { Tx } from "../../../db/connect.ts";
import { type AppError, notFound } from "../../../domain/errors.ts";
import type { OrgAccess, Principal } from "../../../domain/principal.ts";
import { ExactJson } from "../../../lib/exact-json.ts";
import { saysTheSame } from "../../../lib/same-json.ts";
import { pacedIf } from "../../../lib/steps.ts";
import { isWide, wideText } from "../../../lib/wide-json.ts";
import { recorded, type Scope } from "../../kernel/audit/service.ts";
import { evaluateTrails } from "../compliance/service.ts";
import type { Deps } from "../../kernel/deps.ts";
import { findFlowIdByName, type FlowForTrail, getFlowForTrail } from "../flows/service.ts";
import { notifyOfTrails } from "../../notices/notifications/trail-service.ts";
import { captureRepos } from "../repos/service.ts";
import { listEventKeys, listKeyedEvents, listTrailEvents, type TrailEventRow } from "./event-store.ts";
import { findTrail, type FoundTrail, type ReadTrailRow } from "./list-store.ts";
import {
  getTrailLocked,
  insertTrail,
  type LargeFacts,
  type TrailFacts,
  type TrailRow,
  updateTrail,
} from "./store.ts";

/** A report about a trail. */
export interface TrailScope extends Scope {
  org: OrgAccess;
  principal: Principal;
}

/** What a caller says about a trail. */
export interface TrailInput extends CreateTrail {
  flow_name: string;
  /** Undefined: a new trail takes its flow's, an existing one keeps what it has. */
  template: string | undefined;
}

type Needed = Pick<Deps, "db" | "clock" | "ids">;

/** Everything one report works with. */
interface Report {
  tx: Tx;
  scope: TrailScope;
  flow: FlowForTrail;
  input: TrailInput;
  large: LargeFacts;
  /** Internal id of the repo the report came from. */
  repo_id: string | null;
}

/** Writes a value as JSON, with others in between if it is wide; null for what was not given. */
async function written(value: object | null | undefined): Promise<string | null> {
  return value === null || value === undefined ? null : pacedIf(isWide(value), wideText(value));
}

/** Begins a trail with what a report says, unless there is one of its name. @returns whether it was begun. */
async function beginTrail(deps: Needed, report: Report): Promise<boolean> {
  const { tx, scope, flow, input, large, repo_id } = report;
  const trail = {
    id: deps.ids.next(),
    event_id: deps.ids.next(),
    flow_id: flow.id,
    name: input.name,
    description: input.description ?? "",
    ...large,
    origin_url: input.origin_url ?? null,
    user_data: input.user_data ?? ExactJson.ofText("{}"),
    template: input.template ?? flow.template,
    template_id: input.template === undefined ? flow.template_id : deps.ids.next(),
    repo_ids: repo_id === null ? [] : [repo_id],
    created_at: deps.clock.now(),
    created_by_name: scope.actor.name,
    creating_user_id: scope.principal.id,
  };
  if (!(await insertTrail(tx, scope.org.id, trail))) return false;
  const watched = await evaluateTrails(tx, scope.org.id, [trail.id], { kind: "trail" });
  await notifyOfTrails(tx, scope.org.id, watched, () => [
    { trail_id: trail.id, trigger: "ON_STARTED_TRAIL", at: trail.created_at, facts: {} },
  ]);
  return true;
}

/** Tells what the trail is after a report: what that leaves out or gives as null stays. */
function merged(deps: Needed, before: TrailRow, { input, repo_id }: Report): TrailFacts {
  const newTemplate = input.template !== undefined && input.template !== before.template;
  return {
    description: input.description ?? before.description,
    origin_url: input.origin_url ?? before.origin_url,
    user_data: input.user_data ?? before.user_data,
    template: input.template ?? before.template,
    template_id: newTemplate ? deps.ids.next() : before.template_id,
    repo_ids:
      repo_id === null || before.repo_ids.includes(repo_id) ? before.repo_ids : [...before.repo_ids, repo_id],
  };
}

/** Names what differs, as `trail_updated` events list it. */
function changesBetween(before: TrailRow, after: TrailFacts): string[] {
  const differing = {
    description: before.description !== after.description,
    git_commit_info: before.commit_differs,
    user_data: !saysTheSame(before.user_data.text, after.user_data.text),
    origin_url: before.origin_url !== after.origin_url,
    external_urls: before.urls_differ,
    template: before.template !== after.template,
    repo_info: before.repo_ids.length !== after.repo_ids.length,
  };
  return Object.entries(differing).flatMap(([name, differs]) => (differs ? name : []));
}

/** Changes a trail to what a report says. @returns whether that changed anything. */
async function updateExisting(deps: Needed, report: Report): Promise<boolean> {
  const { tx, scope, flow, input, large, repo_id } = report;
  const key = { flow_id: flow.id, name: input.name };
  const before = await getTrailLocked(tx, scope.org.id, key, large);
  const after = merged(deps, before, report);
  const changes = changesBetween(before, after);
  if (changes.length === 0) return false;
  // Taken after the lock, so that the events of simultaneous reports are in the order of their effects.
  const at = deps.clock.now();
  const trail = { id: before.id, ...after, ...large };
  await updateTrail(tx, scope.org.id, trail, {
    event_id: deps.ids.next(),
    setting_user_id: scope.principal.id,
    changes,
    repo_id,
    at,
  });
  await evaluateTrails(tx, scope.org.id, [before.id], { kind: "trail" });
  return true;
}

/**
 * Begins a trail, or updates the one of this name with what the report says; a flow that does not exist is created. Of
 * any number of simultaneous calls one begins it. A call that changes nothing leaves no trace: no event, no audit row, no
 * new `last_modified_at`, because clients send again what they got no answer to.
 */
export async function putTrail(
  deps: Needed,
  scope: TrailScope,
  input: TrailInput,
): Promise<"begun" | "updated"> {
  const large = {
    git_commit_info: await written(input.git_commit_info),
    external_urls: await written(input.external_urls),
  };
  return recorded(deps, scope, async (tx, record) => {
    const flow = await getFlowForTrail(deps, { tx, record, scope }, input.flow_name);
    const [repo_id = null] = await captureRepos(deps, tx, scope.org.id, [input.repo_info]);
    const report = { tx, scope, flow, input, large, repo_id };
    const begun = await beginTrail(deps, report);
    if (begun || (await updateExisting(deps, report))) record("trail", `${flow.name}/${input.name}`);
    return begun ? "begun" : "updated";
  });
}

function trailNotFound(org: { name: string }, names: { flow_name: string; trail_name: string }): AppError {
  return notFound(
    `Trail with name '${names.trail_name}' does not exist for Organization '${org.name}' and Flow '${names.flow_name}'`,
  );
}

/**
 * Reads a trail by its flow's name or former name.
 * @throws AppError not_found.
 */
export async function getTrailRow(
  deps: Pick<Deps, "db">,
  org: { id: string; name: string },
  names: { flow_name: string; trail_name: string },
): Promise<FoundTrail> {
  const db = deps.db;
  const flow_id = await findFlowIdByName(db, org.id, names.flow_name);
  if (flow_id === undefined) throw trailNotFound(org, names);
  const row = await findTrail(db, org.id, { flow_id, name: names.trail_name });
  if (row === undefined) throw trailNotFound(org, names);
  return row;
}

/** A trail with what happened to it and was reported on it, in order, some at a time; as often as it is asked for. */
export interface ReadTrail {
  row: ReadTrailRow;
  events: () => AsyncIterable<TrailEventRow[]>;
}

async function* once<T>(value: T): AsyncGenerator<T> {
  yield value;
}

/**
 * Reads a trail with its events, by its flow's name or former name.
 * @throws AppError not_found.
 */
export async function getTrail(
  deps: Pick<Deps, "db">,
  org: { id: string; name: string },
  names: { flow_name: string; trail_name: string },
): Promise<ReadTrail> {
  const { db } = deps;
  const row = await getTrailRow(deps, org, names);
  if (row.is_long) {
    const keys = await db.sliced(() => listEventKeys(db, org.id, row.id));
    return { row, events: () => listKeyedEvents(db, org.id, row.id, keys) };
  }
  const events = await listTrailEvents(db, org.id, row.id);
  return { row, events: () => once(events) };
}
