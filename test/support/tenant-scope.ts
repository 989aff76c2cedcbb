import { loadModule, parseSync } from "libpg-query";

import { acrossOrganizations } from "../../src/db/citus/across-organizations.ts";
import { placements } from "../../src/db/citus/placement.ts";

await loadModule();

/** A node of PostgreSQL's parse tree: an object with one key, which is its kind, or a list, or a value. */
type Tree = unknown;
type Fields = Record<string, Tree>;

/** A table of organizations as a statement names it. */
interface Named {
  table: string;
  alias: string;
}

const kinds = ["SelectStmt", "InsertStmt", "UpdateStmt", "DeleteStmt"] as const;

/** Functions of the schema that read or write tables: a statement that calls one hides which. */
const hiding = /^(?:find_environment|turned_verdicts|recount_turns|add_to_\w+|add_turns_of)$/;

/** Functions of the schema that write rows of the organization that is their first argument, and of no other. */
const scoped =
  /^(?:append_to_audit_log|move_trails|record_begun_trails|store_attestations|store_verdicts|write_attestations|write_attestations_as_seen)$/;

function isFields(tree: Tree): tree is Fields {
  return typeof tree === "object" && tree !== null && !Array.isArray(tree);
}

function listOf(tree: Tree): Tree[] {
  return Array.isArray(tree) ? (tree as Tree[]) : [];
}

function fieldsOf(tree: Tree, kind: string): Fields | undefined {
  const found = isFields(tree) ? tree[kind] : undefined;
  return isFields(found) ? found : undefined;
}

/** Every node of each kind in a tree, with itself; those within others come after them. */
function nodesOf(tree: Tree, found = new Map<string, Fields[]>()): Map<string, Fields[]> {
  if (Array.isArray(tree)) for (const one of tree) nodesOf(one, found);
  else if (isFields(tree))
    for (const [kind, inner] of Object.entries(tree)) {
      if (isFields(inner)) {
        const others = found.get(kind);
        if (others === undefined) found.set(kind, [inner]);
        else others.push(inner);
      }
      nodesOf(inner, found);
    }
  return found;
}

/** Takes casts and parentheses away. */
function bare(tree: Tree): Tree {
  const cast = fieldsOf(tree, "TypeCast");
  return cast === undefined ? tree : bare(cast["arg"]);
}

const isParameter = (tree: Tree): boolean => fieldsOf(bare(tree), "ParamRef") !== undefined;

/** The alias of a column `org_id`, "" for one without; undefined for anything else. */
function orgColumn(tree: Tree): string | undefined {
  const names = listOf(fieldsOf(bare(tree), "ColumnRef")?.["fields"]).map(
    (part) => fieldsOf(part, "String")?.["sval"],
  );
  if (names.at(-1) !== "org_id") return undefined;
  return names.length === 1 ? "" : String(names[0]);
}

/** Conditions that all have to hold. */
function conjuncts(tree: Tree): Tree[] {
  const both = fieldsOf(tree, "BoolExpr");
  if (both?.["boolop"] === "AND_EXPR") return listOf(both["args"]).flatMap(conjuncts);
  return tree === undefined ? [] : [tree];
}

/** What one `from` has: tables, the conditions of its joins, and pairs that are joined by `using (org_id)`. */
function readFrom(items: Tree[]): { tables: Named[]; conditions: Tree[] } {
  const tables: Named[] = [];
  const conditions: Tree[] = [];
  const read = (item: Tree): void => {
    const range = fieldsOf(item, "RangeVar");
    if (range !== undefined) tables.push(named(range));
    const joined = fieldsOf(item, "JoinExpr");
    if (joined === undefined) return;
    read(joined["larg"]);
    read(joined["rarg"]);
    conditions.push(...conjuncts(joined["quals"]));
  };
  items.forEach(read);
  return { tables, conditions };
}

function named(range: Fields): Named {
  const table = String(range["relname"]);
  const alias = isFields(range["alias"]) ? String(range["alias"]["aliasname"]) : table;
  return { table, alias };
}

const isTenant = ({ table }: Named, common: ReadonlySet<string>): boolean =>
  !common.has(table) && placements.get(table) === "organization";

/** Aliases that conditions bind to a parameter, by themselves or by way of another of them. */
function bound(tables: readonly Named[], conditions: readonly Tree[]): Set<string> {
  const aliases = new Set(tables.map(({ alias }) => alias));
  const only = tables.length === 1 ? tables[0]!.alias : undefined;
  const known = new Set<string>();
  const equal: [string, string][] = [];
  for (const condition of conditions) {
    const compared = fieldsOf(condition, "A_Expr");
    const operator = fieldsOf(listOf(compared?.["name"])[0], "String")?.["sval"];
    if (compared?.["kind"] !== "AEXPR_OP" || operator !== "=") continue;
    const sides = [compared["lexpr"], compared["rexpr"]];
    const [left, right] = sides.map((side) => orgColumn(side)).map((alias) => (alias === "" ? only : alias));
    if (left !== undefined && right !== undefined) equal.push([left, right]);
    if (left !== undefined && isParameter(sides[1])) known.add(left);
    if (right !== undefined && isParameter(sides[0])) known.add(right);
  }
  for (let grown = true; grown;) {
    grown = false;
    for (const [one, other] of equal)
      if (aliases.has(one) && aliases.has(other) && known.has(one) !== known.has(other)) {
        known.add(one).add(other);
        grown = true;
      }
  }
  return known;
}

/** Says whether an `insert` gives a parameter as the organization of each row. */
function insertsForOne(insert: Fields): boolean {
  const columns = listOf(insert["cols"]).map((column) => fieldsOf(column, "ResTarget")?.["name"]);
  const place = columns.indexOf("org_id");
  const source = fieldsOf(insert["selectStmt"], "SelectStmt");
  if (place === -1 || source === undefined) return false;
  const values = listOf(source["valuesLists"]);
  if (values.length > 0)
    return values.every((row) => isParameter(listOf(fieldsOf(row, "List")?.["items"])[place]));
  return isParameter(fieldsOf(listOf(source["targetList"])[place], "ResTarget")?.["val"]);
}

function unboundIn(kind: string, node: Fields, common: ReadonlySet<string>): string[] {
  const relation = isFields(node["relation"]) ? named(node["relation"]) : undefined;
  if (kind === "InsertStmt") {
    const isBound = relation === undefined || !isTenant(relation, common) || insertsForOne(node);
    return isBound ? [] : [`inserts into ${relation.table}`];
  }
  const others = kind === "DeleteStmt" ? node["usingClause"] : node["fromClause"];
  const { tables, conditions } = readFrom(listOf(others));
  if (relation !== undefined) tables.push(relation);
  const known = bound(tables, [...conditions, ...conjuncts(node["whereClause"])]);
  return tables
    .filter((table) => isTenant(table, common) && !known.has(table.alias))
    .map(({ table, alias }) => (table === alias ? table : `${table} ${alias}`));
}

/**
 * Finds the tables of organizations for which a statement does not say, as a parameter of its own, whose rows it means: on
 * Citus such a statement goes to all shards, if it can be run at all. An organization may be said of one table and be equal in
 * another of the same `from`; not of a table around a subquery, because that is looked at on its own.
 */
export function unboundTables(text: string): string[] {
  const nodes = nodesOf(parseSync(text));
  const of = (kind: string): Fields[] => nodes.get(kind) ?? [];
  const common = new Set(of("CommonTableExpr").map(({ ctename }) => String(ctename)));
  const tables = kinds.flatMap((kind) => of(kind).flatMap((node) => unboundIn(kind, node, common)));
  const functions = of("FuncCall")
    .map(({ funcname, args }) => ({
      name: String(fieldsOf(listOf(funcname).at(-1), "String")?.["sval"]),
      isBound: isParameter(listOf(args)[0]),
    }))
    .filter(({ name, isBound }) => hiding.test(name) || (scoped.test(name) && !isBound))
    .map(({ name }) => `${name}()`);
  return [...new Set([...tables, ...functions])];
}

/** What was found in texts. */
const found = new Map<string, string[]>();

/** @throws Error for a statement of the program on rows of any organization that is not listed as such. */
export function requireOneOrganization({ name, text }: { name: string | undefined; text: string }): void {
  const unbound = found.get(text) ?? unboundTables(text);
  found.set(text, unbound);
  if (unbound.length === 0 || (name !== undefined && acrossOrganizations.has(name))) return;
  throw new Error(`${name ?? "A statement"} does not say whose ${unbound.join(", ")} it means: ${text}`);
}
