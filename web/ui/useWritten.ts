import { useState } from "react";

/**
 * Holds what is written in the place of what is kept, whatever becomes of that meanwhile. Until something else is written, and once both are
 * the same, what is kept is shown as it changes.
 */
export function useWritten(kept: string): [string, (text: string) => void] {
  const [written, write] = useState<string>();
  if (written === kept) write(undefined);
  return [written ?? kept, write];
}
