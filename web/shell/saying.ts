import { useCallback, useEffect, useState } from "react";

/** How long what was said can be read, in milliseconds. */
const readableMs = 4_000;

/** Says what was done that cannot be seen, for a while. @returns what is said now, and what says something. */
export function useSaying(): [string, (words: string) => void] {
  // An object each time, so that the same words said again stay as long again.
  const [said, setSaid] = useState({ words: "" });
  useEffect(() => {
    if (said.words === "") return undefined;
    const timer = setTimeout(() => setSaid({ words: "" }), readableMs);
    return () => clearTimeout(timer);
  }, [said]);
  return [said.words, useCallback((words: string) => setSaid({ words }), [])];
}
