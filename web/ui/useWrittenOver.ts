import { useState } from "react";

/** What is written over what is kept, which somebody else may save anew meanwhile. */
export interface WrittenOver<Draft> {
  draft: Draft;
  write: (draft: Draft) => void;
  /** What was kept when the draft was begun, or when it was last decided to keep it. */
  begun: Draft;
  /** Whether it says something else than what is kept. */
  isChanged: boolean;
  /** Texts of what was kept when it was begun and of what is kept now, which differ, where both differ from what is written, too. */
  overtaken: { before: string; after: string } | undefined;
  /** Shows what is kept now in its place. */
  take: () => void;
  /** Keeps what is written, to be saved over what is kept now. */
  keep: () => void;
}

/** Gives what a text says, where that is the draft. */
export const asText = (text: string): string => text;

/**
 * Holds what is written over what is kept. Where nothing was written, or just what somebody else has saved, what is kept is shown as it
 * changes. Else what is written stays, and what is kept now is told beside it, so that nothing is saved over what nobody has seen.
 * @param textOf what a draft says, by which two of them are compared.
 */
export function useWrittenOver<Draft>(kept: Draft, textOf: (draft: Draft) => string): WrittenOver<Draft> {
  const [begun, begin] = useState(kept);
  const [draft, write] = useState(kept);
  const [before, after, text] = [textOf(begun), textOf(kept), textOf(draft)];
  const take = (): void => {
    begin(kept);
    write(kept);
  };
  const isOther = before !== after;
  if (isOther && text === after) begin(kept);
  else if (isOther && text === before) take();
  return {
    draft,
    write,
    begun,
    isChanged: text !== after,
    overtaken: isOther && text !== before && text !== after ? { before, after } : undefined,
    take,
    keep: () => begin(kept),
  };
}
