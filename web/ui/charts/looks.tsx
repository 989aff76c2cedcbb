import { type ReactNode, useId } from "react";

import styles from "./looks.module.css";

/** How a part of a picture looks: by colour, and by pattern for those who do not see that. */
export type Look = "good" | "bad" | "warn" | "other" | "silent";

/** What every bar of a picture has a part of. */
export interface Series {
  look: Look;
  words: string;
}

/** Names the patterns of one picture. @returns the name that its `Patterns` and `fillOf` take. */
export function usePatterns(): string {
  return useId().replaceAll(/[^\w-]/g, "");
}

/** Gives what a shape of this look is filled with, in the picture that has these patterns. */
export function fillOf(patterns: string, look: Look): string {
  return `url(#${patterns}-${look})`;
}

/** What the shapes of a picture are filled with; stands inside its `svg`. */
export function Patterns({ id }: { id: string }) {
  const square = { width: 6, height: 6, patternUnits: "userSpaceOnUse" } as const;
  return (
    <defs className={styles["patterns"]}>
      <pattern id={`${id}-good`} {...square}>
        <rect width="6" height="6" data-look="good" />
      </pattern>
      <pattern id={`${id}-bad`} {...square} patternTransform="rotate(45)">
        <rect width="6" height="6" data-look="bad" />
        <rect width="1.6" height="6" className={styles["ink"]} />
      </pattern>
      <pattern id={`${id}-warn`} {...square}>
        <rect width="6" height="6" data-look="warn" />
        <circle cx="3" cy="3" r="1.1" className={styles["ink"]} />
      </pattern>
      <pattern id={`${id}-other`} {...square}>
        <rect width="6" height="6" data-look="other" />
        <circle cx="3" cy="3" r="0.9" className={styles["ink"]} />
      </pattern>
      <pattern
        id={`${id}-silent`}
        width="5"
        height="5"
        patternUnits="userSpaceOnUse"
        patternTransform="rotate(-45)"
      >
        <rect width="5" height="5" className={styles["veil"]} />
        <rect width="1.4" height="5" className={styles["hatch"]} />
      </pattern>
    </defs>
  );
}

/** Says what each look stands for. A mark is a triangle above the picture. */
export function Legend({ entries }: { entries: readonly (readonly [Look | "mark", ReactNode])[] }) {
  return (
    <span className={styles["legend"]}>
      {entries.map(([look, words]) => (
        <span key={look} data-look={look}>
          {words}
        </span>
      ))}
    </span>
  );
}
