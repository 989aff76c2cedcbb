import { z } from "zod";

import { parseUrl } from "./lib/url.ts";

/** Where PostgreSQL is, what stands in front of it, and what this of several servers does. */
export interface ServersConfig {
  /** URL of an external PostgreSQL; undefined for the managed one. */
  databaseUrl: string | undefined;
  /** What a pooler at that URL hands out a connection for; undefined when there is none. */
  databasePooler: "session" | "transaction" | undefined;
  /** URL of the same PostgreSQL without the pooler; set when that one hands out connections for a transaction. */
  databaseDirectUrl: string | undefined;
  /** URL of a read replica of that PostgreSQL. */
  databaseReadUrl: string | undefined;
  roles: Roles;
}

/** What a server does. */
interface Roles {
  /** Answers requests. */
  api: boolean;
  /** Works on background jobs. */
  jobs: boolean;
}

/** Makes the schema of a text that is a URL with one of these protocols. */
export function url(protocols: string[]) {
  return z
    .string()
    .refine(
      (text) => protocols.includes(parseUrl(text)?.protocol ?? ""),
      `must be a URL starting with ${protocols.map((protocol) => `${protocol}//`).join(" or ")}`,
    );
}

const databaseUrl = url(["postgres:", "postgresql:"]).optional();

const roleNames = ["api", "jobs"] as const;

/** The variables that say where the database is and what a server does. */
export const serverVariables = {
  DATABASE_URL: databaseUrl,
  DATABASE_READ_URL: databaseUrl,
  WAYBILL_DATABASE_DIRECT_URL: databaseUrl,
  WAYBILL_DATABASE_POOLER: z.enum(["session", "transaction"]).optional(),
  WAYBILL_ROLES: z
    .string()
    .transform((text) => text.split(",").map((name) => name.trim()))
    .pipe(z.array(z.enum(roleNames, `must be ${roleNames.join(", ")}, or both with a comma between`)).min(1))
    .optional(),
};

const Settings = z.object(serverVariables);
type Settings = z.output<typeof Settings>;

/** Lists what does not go together, a sentence each. */
export function serverMistakes(set: Settings): string[] {
  const needDatabase = (
    ["DATABASE_READ_URL", "WAYBILL_DATABASE_DIRECT_URL", "WAYBILL_DATABASE_POOLER"] as const
  )
    .filter((name) => set[name] !== undefined && set.DATABASE_URL === undefined)
    .map((name) => `DATABASE_URL must be set, because ${name} is`);
  const isPooled = set.WAYBILL_DATABASE_POOLER === "transaction";
  if (isPooled && set.WAYBILL_DATABASE_DIRECT_URL === undefined)
    needDatabase.push(
      "WAYBILL_DATABASE_DIRECT_URL must be set, because WAYBILL_DATABASE_POOLER is transaction",
    );
  const { api, jobs } = rolesOf(set);
  if (!(api && jobs) && set.DATABASE_URL === undefined)
    needDatabase.push("WAYBILL_ROLES must be api,jobs without DATABASE_URL: a data directory has one server");
  return needDatabase;
}

function rolesOf({ WAYBILL_ROLES: given = [...roleNames] }: Settings): Roles {
  return { api: given.includes("api"), jobs: given.includes("jobs") };
}

/** Reads where the database is and what this server does. */
export function serversConfig(set: Settings): ServersConfig {
  return {
    databaseUrl: set.DATABASE_URL,
    databasePooler: set.WAYBILL_DATABASE_POOLER,
    databaseDirectUrl: set.WAYBILL_DATABASE_DIRECT_URL,
    databaseReadUrl: set.DATABASE_READ_URL,
    roles: rolesOf(set),
  };
}
