import { hasAnyTag, holdersOfTags, isIndexed, spacesBelow, usesOfTag } from "../../../db/list-filters.ts";
import { empty, join, param, raw, type Sql, sql } from "../../../db/sql.ts";
import { type EnvironmentState, environmentStates } from "../../../domain/environments.ts";
import type { TagFilter } from "../../../domain/tags.ts";
import { containsPattern } from "../../../lib/like.ts";
import { isSilent } from "./silent-sql.ts";

/** Which environments. A filter that is absent lets everything through, an empty list nothing. */
export interface EnvironmentFilter {
  archived: boolean;
  types?: readonly string[] | undefined;
  /** Case-insensitive part of the name. */
  name?: string | undefined;
  tags?: TagFilter | undefined;
  /** Ids; each stands for itself and all spaces below it. */
  spaces?: readonly string[] | undefined;
  /** Those that were, or were not, silent for too long at a moment in Unix seconds. */
  stale?: { is: boolean; at: number } | undefined;
  /** Those in any of these states. */
  states?: readonly EnvironmentState[] | undefined;
  /** Those that any of the policies of these names is attached to. */
  policies?: readonly string[] | undefined;
}

/** What was asked for, in SQL. */
export interface Filters {
  /** The organization's id. */
  org: Sql;
  /** Whether archived environments are asked for, or the others. */
  archived: Sql;
  /** Conditions on the row `e`, but for its type. */
  where: Sql;
  /** Those of them that a list has whose ids are found first; undefined when none are. */
  held: Held | undefined;
  /** Common table expressions that the conditions use, each with its comma. */
  with: Sql;
  /** Writes the condition on the type of the row of this alias, when types were asked for. */
  ofType: ((alias: string) => Sql) | undefined;
  /** The types, when there are several or none. */
  types: Sql | undefined;
  /**
   * Where the number of matches is known from: `counters`; the `index` of the order, which has what these filters ask for;
   * the same of what is `held`; or the `matches` themselves, which have to be found.
   */
  countedBy: "counters" | "index" | "held" | "matches";
  /** Tells the text of one combination of filters from all others. */
  shape: string;
}

/** Environments that are found by what is held to them: tags, or policies. */
export interface Held {
  /** Selects their ids as `id`, some of them more than once: none of archived ones. */
  ids: Sql;
  /** All other conditions on the row `e`, but for its type. */
  rest: Sql;
  /** Their number, where nothing else is asked; `held` has the ids. */
  total: Sql | undefined;
}

/** Writes the conditions. */
export function filtersOf(org: Sql, query: EnvironmentFilter): Filters {
  const archived = sql`${param(query.archived)}::boolean`;
  const rest = [sql`e.org_id = ${org}`, sql`e.archived = ${archived}`];
  const holding: Sql[] = [];
  // A letter each: the database tells the names of statements apart by their first 63 characters.
  const shape: string[] = [];
  if (query.name !== undefined && query.name !== "") {
    rest.push(nameCondition(query.name));
    shape.push(query.name.length < shortestIndexedText ? "m" : "n");
  }
  if (query.tags !== undefined) {
    holding.push(hasAnyTag("e", query.tags));
    shape.push(shapeOfTags(query.tags));
  }
  if (query.spaces !== undefined) {
    rest.push(sql`e.space_id = any(array(select id from below))`);
    shape.push("s");
  }
  if (query.stale !== undefined) {
    rest.push(query.stale.is ? isSilent("e", query.stale.at) : sql`not ${isSilent("e", query.stale.at)}`);
    shape.push(query.stale.is ? "q" : "f");
  }
  if (query.policies !== undefined) {
    holding.push(policyCondition(org, query.policies));
    shape.push("p");
  }
  if (query.states !== undefined) {
    const states = environmentStates.filter((state) => query.states?.includes(state));
    rest.push(stateCondition(states));
    shape.push("v", ...states.map((state) => String(environmentStates.indexOf(state))));
  }
  const held = heldOf(org, query, join(rest, " and "));
  const ofTypes = typeFilter(query.types);
  return {
    ...ofTypes,
    org,
    archived,
    where: join([...rest, ...holding], " and "),
    held,
    with: query.spaces === undefined ? empty : spacesBelow(org, query.spaces),
    countedBy: countedBy(query, held),
    shape: [...ofTypes.shape, ...shape].join(""),
  };
}

/** Tells filters by tags apart whose SQL differs. */
function shapeOfTags({ keys, pairs }: TagFilter): string {
  if (!isIndexed({ keys, pairs })) return "l";
  if (keys.length + pairs.length !== 1) return "g";
  return keys.length === 1 ? "k" : "w";
}

/** Says whether an index finds what is asked for by itself. */
function isFound({ name, spaces, stale }: EnvironmentFilter): boolean {
  return (name !== undefined && name !== "") || spaces !== undefined || stale?.is === true;
}

/** Says what is asked for of tags and policies, where their indexes know all of it: tags are those of the living. */
function heldOf(org: Sql, query: EnvironmentFilter, rest: Sql): Held | undefined {
  const { tags, policies, archived, types, states, stale } = query;
  const areTagsKnown = tags === undefined || isIndexed(tags);
  if (isFound(query) || !areTagsKnown || (tags === undefined && policies === undefined) || archived)
    return undefined;
  const ids = [
    ...(tags === undefined ? [] : [holdersOfTags(org, "environment", tags)]),
    ...(policies === undefined
      ? []
      : [
          sql`select attached.environment_id as id from ${ofPolicies(org, policies)}
          and attached.environment_id not in (select id from environments where org_id = ${org} and archived)`,
        ]),
  ];
  const isAll = [types, states, stale].every((filter) => filter === undefined);
  const uses = tags === undefined || policies !== undefined ? undefined : usesOfTag(org, "environment", tags);
  return {
    ids: ids.length === 1 ? join(ids) : sql`(${join(ids, ") intersect (")})`,
    rest,
    total: isAll ? (uses ?? raw("(select count(*) from (select distinct id from held) h)")) : undefined,
  };
}

function countedBy(query: EnvironmentFilter, held: Held | undefined): Filters["countedBy"] {
  if (held !== undefined) return "held";
  if (isFound(query) || query.tags !== undefined || query.policies !== undefined) return "matches";
  return query.stale === undefined && query.states === undefined ? "counters" : "index";
}

function typeFilter(
  asked: readonly string[] | undefined,
): Pick<Filters, "ofType" | "types"> & { shape: string[] } {
  if (asked === undefined) return { ofType: undefined, types: undefined, shape: [] };
  const [first, ...others] = new Set(asked);
  if (first !== undefined && others.length === 0) {
    const type = sql`${param(first)}::text`;
    return { ofType: (alias) => sql`${raw(alias)}.type = ${type}`, types: undefined, shape: ["t"] };
  }
  const types = sql`${param([...new Set(asked)])}::text[]`;
  return { ofType: (alias) => sql`${raw(alias)}.type = any(${types})`, types, shape: ["a"] };
}

/** The trigram index helps from three characters on. */
const shortestIndexedText = 3;

function nameCondition(text: string): Sql {
  const wanted = text.toLowerCase();
  return text.length < shortestIndexedText
    ? sql`position(${wanted}::text in lower(e.name)) > 0`
    : sql`lower(e.name) like ${containsPattern(wanted)}::text`;
}

/** Written out, because the planner uses the index of verdicts only where it sees which one is wanted. */
const ofState: Record<EnvironmentState, Sql> = {
  COMPLIANT: raw("e.state"),
  "NON-COMPLIANT": raw("not e.state"),
  UNKNOWN: raw("e.state is null"),
  "NEVER-REPORTED": raw("(e.last_reported_at is null and e.type <> 'logical')"),
};

function stateCondition(states: readonly EnvironmentState[]): Sql {
  if (states.length === 0) return raw("false");
  const conditions = states.map((state) => ofState[state]);
  return sql`(${join(conditions, " or ")})`;
}

/**
 * Writes the condition as a join and not as an array of ids, which would be searched from its beginning for each row where
 * another filter finds the rows. What no policy is called like lets nothing through.
 */
function policyCondition(org: Sql, names: readonly string[]): Sql {
  return sql`e.id in (select attached.environment_id from ${ofPolicies(org, names)})`;
}

/** Writes what has the attachments of policies of these names as `attached`. */
function ofPolicies(org: Sql, names: readonly string[]): Sql {
  return sql`policies p
    join environment_policies attached on attached.org_id = p.org_id and attached.policy_id = p.id
    where p.org_id = ${org} and p.name = any(${names}::text[])`;
}

/** Writes all conditions on the row `e`. */
export function allConditions({ where, ofType }: Filters): Sql {
  return ofType === undefined ? where : sql`${where} and ${ofType("e")}`;
}
