import { useState } from "react";

type Entry = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

/** What is searched for is no input: it is gone with what it found. */
const entries = "input:not([type='search']), select, textarea";

const saidBy = (entry: Entry): string =>
  entry instanceof HTMLInputElement && ["checkbox", "radio"].includes(entry.type)
    ? String(entry.checked)
    : entry.value;

/** Knows which fields say something else than at first. */
export interface FilledIn {
  /** Looks after the fields in an element; what ties it to that. */
  within: (element: Element | null) => (() => void) | undefined;
  /** Whether any says something else than before somebody wrote or chose in it. One that is gone says nothing. */
  isFilledIn: () => boolean;
}

function watchFields(): FilledIn {
  const before = new Map<Entry, string>();
  const written = new Set<Entry>();
  const note = (entry: Entry): void => {
    if (!before.has(entry)) before.set(entry, saidBy(entry));
  };
  const forEntry =
    (act: (entry: Entry) => void) =>
    ({ target }: Event): void => {
      if (target instanceof Element && target.matches(entries)) act(target as Entry);
    };
  const noteFocused = forEntry(note);
  const noteWritten = forEntry((entry) => written.add(entry));
  return {
    within: (element) => {
      if (element === null) return undefined;
      element.querySelectorAll<Entry>(entries).forEach(note);
      element.addEventListener("focusin", noteFocused);
      element.addEventListener("input", noteWritten);
      return () => {
        element.removeEventListener("focusin", noteFocused);
        element.removeEventListener("input", noteWritten);
      };
    },
    isFilledIn: () => [...written].some((entry) => entry.isConnected && saidBy(entry) !== before.get(entry)),
  };
}

/** Looks whether somebody has filled in fields, so that these are not let go of without a question. */
export function useFilledIn(): FilledIn {
  const [watching] = useState(watchFields);
  return watching;
}
