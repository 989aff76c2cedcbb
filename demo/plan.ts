import type { Api } from "./api.ts";
import type { BesideServer } from "./database.ts";
import type { Amounts } from "./data/sizes.ts";
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
  /** The current time, from which all others follow, in Unix seconds. */
  now: number;
  /** The server's database, when it is within reach: for what the API cannot do, such as records of the past. */
  beside: BesideServer | undefined;
}

/** Requests under way at the same time. */
export const concurrency = 8;
