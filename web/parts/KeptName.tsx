import { useQuery, useQueryClient } from "@tanstack/react-query";

import { ApiError } from "../api/errors.ts";
import { Note } from "../ui/Note.tsx";
import { useSettled } from "../ui/useSettled.ts";
import { FailedToRead } from "./Loaded.tsx";
import { checkPauseMs } from "./Writing.tsx";

interface Named {
  name: string;
}

/** How it is found out what has a name: null for nothing. */
export interface KeptSearch<Kept extends Named> {
  queryKey: readonly unknown[];
  queryFn: (context: { signal: AbortSignal }) => Promise<Kept | null>;
}

interface KeptNameOptions<Kept extends Named> {
  /** What is saved: a policy. */
  what: string;
  /** What is edited, which needs no search; undefined for something new. */
  edited: Kept | undefined;
  /** The name to save it under. */
  name: string;
  search: (name: string) => KeptSearch<Kept>;
}

/** What has the name under which something is to be saved: that gets its next version. */
export interface KeptName<Kept extends Named> {
  what: string;
  kept: Kept | undefined;
  /** Whether nothing has it. */
  isFree: boolean;
  /** Why nothing can be saved under it: it is not known what has it. */
  refused: string | undefined;
  error: Error | null;
  retry: () => void;
  /** Throws where something has it that had not when it was looked for: nobody was told that it gets its next version. */
  requireSeen: () => Promise<void>;
}

/** Looks, a moment after the last key, what has the name that something new is to be saved under. */
export function useKeptName<Kept extends Named>({
  what,
  edited,
  name,
  search,
}: KeptNameOptions<Kept>): KeptName<Kept> {
  const queries = useQueryClient();
  const settled = useSettled(name, checkPauseMs);
  const isSearched = edited === undefined && name !== "";
  const { data, error, refetch } = useQuery({ ...search(settled), enabled: isSearched && settled === name });
  const found = settled === name ? data : undefined;
  const isKnown = !isSearched || found !== undefined;
  // One version of a type can be asked for by name, too, and is not called so.
  const kept = edited ?? (isSearched && found?.name === name ? found : undefined);
  const isFree = isKnown && kept === undefined;
  return {
    what,
    kept,
    isFree,
    refused: isKnown ? undefined : `It is not known yet whether a ${what} has this name`,
    error: isKnown ? null : error,
    retry: () => void refetch(),
    requireSeen: async () => {
      if (!isFree) return;
      const now = await queries.fetchQuery({ ...search(name), staleTime: 0 });
      if (now?.name === name) throw new ApiError(409, `There is a ${what} ${name} already`);
    },
  };
}

/** Says where something new is saved what becomes of what has the name, or why that is not known. */
export function KeptNameNote({ named: { what, kept, error, retry } }: { named: KeptName<Named> }) {
  if (error !== null) return <FailedToRead error={error} retry={retry} />;
  if (kept === undefined) return null;
  return <Note kind="warn">There is a {what} of this name. Saving makes its next version.</Note>;
}
