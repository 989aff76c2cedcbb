import { isReadOnly, sqlState, sqlStateOf } from "../db/sqlstate.ts";
import { isOutOfDescriptors } from "../lib/shortage.ts";

/** Says what there is too little of, as a sentence without its end; undefined when that is not what is wrong. */
export function shortageOf(error: unknown): string | undefined {
  if (isOutOfDescriptors(error)) return "The server has too many files and connections open";
  if (sqlStateOf(error) === sqlState.diskFull) return "The disk of the database is full";
  if (isReadOnly(error)) return "The database can only be read at the moment";
  return undefined;
}
