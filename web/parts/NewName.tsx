import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";

import { checkPauseMs } from "./Writing.tsx";
import { ApiError } from "../api/errors.ts";
import { nameMistake, type NamedKind, nameWords } from "../domain/new-names.ts";
import { Field } from "../ui/Field.tsx";
import { useSettled } from "../ui/useSettled.ts";
import { wrongField } from "./ActionDialog.tsx";

/** How it is found out what a name leads to already. */
export interface NameSearch {
  queryKey: readonly unknown[];
  /** Answers how that is called which the name leads to: the same, where the name is taken; another, where it had it; null for nothing. */
  queryFn: (context: { signal: AbortSignal }) => Promise<string | null>;
}

/** Reads how something is called, where there is such a thing. */
export async function nameOf(found: Promise<{ name: string }>): Promise<string | null> {
  return (await ifAny(found))?.name ?? null;
}

/** Reads something, or null where there is no such thing. */
export async function ifAny<Found>(found: Promise<Found>): Promise<Found | null> {
  try {
    return await found;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}

/** A name that is to be given to something new. */
export interface NewName {
  kind: NamedKind;
  name: string;
  /** Why it cannot be given. */
  mistake: string | undefined;
  isTaken: boolean;
  /** What the name leads to until it is given. */
  former: string | undefined;
  /** Throws where it is taken, looking once more: what is put under it would replace what somebody else has. */
  requireFree: () => Promise<void>;
}

const takenWords = (kind: NamedKind, name: string): string => `There is ${articles[kind]} ${name} already`;
const articles = { environment: "an environment", flow: "a flow", organization: "an organization" } as const;

/** Looks, a moment after the last key, whether a name can be given to something new. */
export function useNewName(kind: NamedKind, name: string, search: (name: string) => NameSearch): NewName {
  const queries = useQueryClient();
  const settled = useSettled(name, checkPauseMs);
  const mistake = nameMistake(kind, name);
  const isAsked = settled !== "" && nameMistake(kind, settled) === undefined;
  const { data } = useQuery({ ...search(settled), enabled: isAsked, retry: false });
  const found = isAsked && settled === name ? (data ?? undefined) : undefined;
  return {
    kind,
    name,
    mistake,
    isTaken: found === name,
    former: found === name ? undefined : found,
    requireFree: async () => {
      const now = await queries.fetchQuery({ ...search(name), staleTime: 0 });
      if (now === name) throw new ApiError(409, takenWords(kind, name));
    },
  };
}

interface NameFieldProps {
  named: NewName;
  onChange: (name: string) => void;
  action: { isPending: boolean; isSuccess: boolean; error: Error | null };
  /** What the server says of it where it does not name the field. */
  said?: string | undefined;
  hint?: string;
  /** Renders the link to what has the name. */
  linkTo: (words: string) => ReactNode;
}

/** Asks for a name, and says why it cannot be given; where it is taken, by what. */
export function NameField({ named, onChange, action, said, hint, linkTo }: NameFieldProps) {
  const { kind, name, mistake, isTaken, former } = named;
  // From then on it is what was made that has it.
  const isOther = isTaken && !action.isPending && !action.isSuccess;
  const wrong = isOther ? (
    <span role="status">
      {takenWords(kind, name)}: {linkTo("open it")}, or choose another name.
    </span>
  ) : (
    (mistake ?? wrongField(action.error, "name") ?? said)
  );
  return (
    <Field
      label="Name"
      wrong={wrong}
      hint={
        former === undefined
          ? [nameWords(kind), hint].join(" ")
          : `It was the name of ${former}, to which it leads until now. From then on it leads to the new one.`
      }
    >
      {(tie) => (
        <input
          {...tie}
          required
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          value={name}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}

/** Says why a name keeps a form from being sent. */
export function nameRefusal({ mistake, isTaken }: NewName): string | undefined {
  if (isTaken) return "The name is taken";
  return mistake === undefined ? undefined : "The name has to be another one";
}
