import type { Api } from "./api.ts";
import type { BesideServer } from "./database.ts";
import type { Amounts } from "./model/sizes.ts";
import type { Person } from "./model/people.ts";
import type { Progress } from "./progress.ts";

/** What every step of filling the organization works with. */
export interface Demo {
  api: Api;
  /** Name of the new organization. */
  org: string;
  seed: string;
  amounts: Amounts;
  people: Person[];
  progress: Progress;
  /** Unix seconds; all times are told from it. */
  now: number;
  /** The server's database, when it is within reach: for what the API cannot do, such as dating back. */
  beside: BesideServer | undefined;
}

/** Requests under way at the same time. */
export const concurrency = 8;
