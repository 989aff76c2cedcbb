import type { ControlDecisionsQuery } from "../../../contract/control-decisions.ts";
import type { controlEndpoints, ControlsQuery } from "../../../contract/controls.ts";
import { exactBody } from "../../../contract/endpoint.ts";
import { trailPage } from "../../../domain/pages.ts";
import { parseTagFilter } from "../../../domain/tags.ts";
import { ExactJson } from "../../../lib/exact-json.ts";
import { parseWireId } from "../../../lib/ids.ts";
import { type Links, pageHead } from "../../../lib/links.ts";
import { type PageNumbers, pageSlice } from "../../../lib/paging.ts";
import type { Handlers } from "../../kernel/call.ts";
import { getCoverage, listPoliciesReferencing } from "./coverage-store.ts";
import { countDecisions, type DecisionFilter, type DecisionRow, listDecisions } from "./decision-store.ts";
import {
  createControl,
  editControl,
  getControl,
  getControlVersion,
  getDecision,
  setControlArchived,
} from "./service.ts";
import {
  type ControlFilter,
  countControls,
  type ListPage,
  listControls,
  listControlVersions,
  listTagChoices,
} from "./store.ts";

/** Reads the filter. A search for empty text is none; an empty tag is one that nothing has. */
function filterOf({ archived, search, tag }: ControlsQuery): ControlFilter {
  return {
    archived,
    search: search || undefined,
    tags: tag === undefined ? undefined : parseTagFilter(tag),
  };
}

function partOf({ sort_direction, ...page }: PageNumbers & Pick<ControlsQuery, "sort_direction">): ListPage {
  return { sort_direction, ...pageSlice(page) };
}

/** Reads the filter. A text that is no id at all is a flow that does not exist. */
function decisionFilter(query: ControlDecisionsQuery): DecisionFilter {
  const { is_compliant, from_timestamp, to_timestamp, flow_id } = query;
  const flow_ids = flow_id?.flatMap((wire) => parseWireId(wire) ?? []);
  return { is_compliant, from_timestamp, to_timestamp, flow_ids };
}

/** Adds the address of its page to a decision. */
function showDecision<Row extends DecisionRow>(
  row: Row,
  org: { name: string },
  links: Links,
): Row & { html_url: string } {
  const page = `/${org.name}${trailPage(row)}`;
  return { ...row, html_url: links.web(`${page}?attestation_id=${row.decision_id}`) };
}

export const controlHandlers: Handlers<typeof controlEndpoints> = {
  list_controls: async (deps, { org, query, url }) => {
    const filter = filterOf(query);
    const [controls, total] = await Promise.all([
      listControls(deps.db, org.id, filter, partOf(query)),
      countControls(deps.db, org.id, filter),
    ]);
    return { status: 200, body: { ...pageHead(url, query, total), controls } };
  },

  post_control: async (deps, call) => ({ status: 201, body: await createControl(deps, call, call.body) }),

  list_control_tag_choices: async (deps, { org, url }) => ({
    status: 200,
    body: { tag_choices: await listTagChoices(deps.db, org.id), _links: { self: { href: url } } },
  }),

  get_control: async (deps, { org, params }) => {
    const control = await getControl(deps.db, org, params.identifier);
    const policies_referencing = await listPoliciesReferencing(deps.db, org.id, control.identifier);
    return { status: 200, body: { ...control, policies_referencing } };
  },

  put_control: async (deps, call) => ({
    status: 200,
    body: await editControl(deps, call, { ...call.body, identifier: call.params.identifier }),
  }),

  archive_control: async (deps, call) => ({
    status: 200,
    body: await setControlArchived(deps, call, call.params.identifier, true),
  }),

  unarchive_control: async (deps, call) => ({
    status: 200,
    body: await setControlArchived(deps, call, call.params.identifier, false),
  }),

  list_control_versions: async (deps, { org, params, query, url }) => {
    const { version: total } = await getControl(deps.db, org, params.identifier);
    const part = { ...partOf(query), total };
    const versions = await listControlVersions(deps.db, org.id, params.identifier, part);
    return { status: 200, body: { ...pageHead(url, query, total), versions } };
  },

  get_control_version: async (deps, { org, params }) => ({
    status: 200,
    body: await getControlVersion(deps.db, org, params.identifier, params.version_number),
  }),

  get_control_coverage: async (deps, { org, params, query, url }) => {
    const { identifier } = await getControl(deps.db, org, params.identifier);
    const { search, covered: wanted } = query;
    const filter = { search: search || undefined, covered: wanted, ...pageSlice(query) };
    const coverage = await getCoverage(deps.db, org.id, identifier, filter);
    const { total, covered, matching, environments } = coverage;
    const coverage_percent = total === 0 ? 0 : Math.round((covered / total) * 1000) / 10;
    const head = pageHead(url, query, matching);
    return { status: 200, body: { ...head, total, covered, coverage_percent, environments } };
  },

  list_control_decisions: async (deps, { org, params, query, url }) => {
    const { identifier } = await getControl(deps.db, org, params.identifier);
    const filter = { ...decisionFilter(query), identifier };
    const [rows, total] = await Promise.all([
      listDecisions(deps.db, org.id, filter, partOf(query)),
      countDecisions(deps.db, org.id, filter),
    ]);
    const decisions = rows.map((row) => showDecision(row, org, deps.links));
    return { status: 200, body: { ...pageHead(url, query, total), decisions } };
  },

  get_control_decision: async (deps, { org, params }) => {
    const decision = await getDecision(deps.db, org, params.identifier, params.decision_id);
    const { user_data, annotations, ...shown } = showDecision(decision, org, deps.links);
    const exact = {
      annotations: annotations === null ? null : ExactJson.ofText(annotations),
      user_data: ExactJson.ofText(user_data),
    };
    return { status: 200, body: exactBody({ ...shown, ...exact }) };
  },
};
