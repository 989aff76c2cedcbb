import { useState } from "react";

/**
 * Holds what is written in the place of what is kept, whatever becomes of that meanwhile. Until something else is written, and once both are
 * the same, what is kept is shown as it changes.
 */
export function useWritten<Value extends string | boolean>(kept: Value): [Value, (value: Value) => void] {
  const [written, write] = useState<Value>();
  if (written === kept) write(undefined);
  return [written ?? kept, write];
}
