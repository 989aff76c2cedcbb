import { useState } from "react";

import { Button } from "../../ui/Button.tsx";
import styles from "./Environments.module.css";

interface Held<T> {
  /** What is shown: what was the latest when somebody began to read, as it is now. */
  shown: T | undefined;
  /** How many snapshots have come since. */
  newer: number;
  /** Shows the latest. */
  show: () => void;
}

/**
 * Keeps a snapshot while newer ones come, so that nobody loses their place: what is newer is shown when asked for. Numbers that begin anew
 * are those of another environment of the name, as is what comes after nothing: there is no place to keep.
 * @param latest must be the same object while nothing changes; undefined where there is none, or none any more.
 */
export function useHeld<T extends { index: number }>(latest: T | undefined): Held<T> {
  const [held, hold] = useState(latest);
  // Before the first there is no place to lose, either.
  const isSame = held === undefined || latest === undefined || held.index === 0 || latest.index <= held.index;
  if (isSame && held !== latest) hold(latest);
  return {
    shown: isSame ? latest : held,
    newer: isSame ? 0 : latest.index - held.index,
    show: () => hold(latest),
  };
}

/** Offers what came while something older was read. */
export function NewerSnapshots({ newer, onShow }: { newer: number; onShow: () => void }) {
  return (
    <div role="status" className={newer > 0 ? styles["newer"] : undefined} data-no-print>
      {newer <= 0 ? null : (
        <>
          <span>
            {newer} newer {newer === 1 ? "snapshot" : "snapshots"}
          </span>
          <Button onClick={onShow}>Show</Button>
        </>
      )}
    </div>
  );
}
