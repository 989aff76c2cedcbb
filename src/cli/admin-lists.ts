import { invalid } from "../domain/errors.ts";
import { wireId } from "../lib/ids.ts";
import { listAllKeys } from "../modules/kernel/access/key-store.ts";
import { listAllOrganizations } from "../modules/identity/organizations/store.ts";
import { listUsers } from "../modules/identity/users/store.ts";
import type { CommandDeps } from "./command-deps.ts";
import { print } from "./output.ts";

type Row = (string | number | boolean | null)[];

function cell(value: Row[number]): string {
  return value === null || value === "" ? "-" : String(value);
}

/** Lays out lines of columns, each as wide as its widest cell. */
export function table(heading: string[], rows: Row[]): string[] {
  const lines = [heading, ...rows.map((row) => row.map(cell))];
  const widths = heading.map((_title, column) =>
    Math.max(...lines.map((line) => (line[column] ?? "").length)),
  );
  return lines.map((line) =>
    line
      .map((text, column) => text.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

/** Writes a moment as people read it, in UTC. */
export function date(seconds: number | null): string | null {
  return seconds === null ? null : new Date(seconds * 1000).toISOString().slice(0, 19).replace("T", " ");
}

const lists: Record<string, (deps: CommandDeps) => Promise<string[]>> = {
  users: async (deps) => {
    const users = await listUsers(deps.db);
    const rows = users.map((user) => [
      user.name,
      user.display_name,
      user.email,
      user.instance_admin ? "instance admin" : null,
      user.disabled_at === null ? "active" : "disabled",
      date(user.created_at),
    ]);
    return table(["NAME", "DISPLAY NAME", "MAIL", "RIGHTS", "STATE", "CREATED"], rows);
  },
  organizations: async (deps) => {
    const organizations = await listAllOrganizations(deps.db);
    const rows = organizations.map((org) => [
      org.name,
      org.kind,
      org.public ? "public" : "private",
      org.members,
      date(org.created_at),
    ]);
    return table(["NAME", "KIND", "VISIBILITY", "MEMBERS", "CREATED"], rows);
  },
  keys: async (deps) => {
    const keys = await listAllKeys(deps.db, deps.clock.now());
    const rows = keys.map((key) => [
      wireId(key.id),
      key.owner,
      key.description,
      date(key.created_at),
      date(key.expires_at),
      date(key.last_used_at),
    ]);
    return table(["ID", "OWNER", "DESCRIPTION", "CREATED", "EXPIRES", "LAST USED"], rows);
  },
};

/** What `waybill admin list` can list. */
export const listed = Object.keys(lists);

/** Runs `waybill admin list users|organizations|keys`: prints all of them. Of keys, those that work; never a value. */
export async function list(deps: CommandDeps, what: string): Promise<void> {
  const lines = lists[what];
  if (lines === undefined) throw invalid(`'${what}' cannot be listed; say one of ${listed.join(", ")}`);
  for (const line of await lines(deps)) print.line(line);
}
