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
 * Keeps a snapshot while newer ones come, so that nobody loses their place: what is newer is shown when asked for.
 * @param latest must be the same object while nothing changes.
 */
export function useHeld<T extends { index: number }>(latest: T | undefined): Held<T> {
  const [held, hold] = useState(latest);
  // Before the first there is no place to lose.
  const isSame = held === undefined || held.index === 0 || held.index === latest?.index;
  if (isSame && held !== latest) hold(latest);
  return {
    shown: isSame ? latest : held,
    newer: isSame || latest === undefined ? 0 : latest.index - held.index,
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
