import type { ReactNode } from "react";

import { Icon, type IconName } from "./Icon.tsx";
import styles from "./Note.module.css";

const icons = { info: "info", warn: "warning", bad: "warning", good: "check" } as const satisfies Record<
  string,
  IconName
>;

/** A remark beside what it is about. */
export function Note({ kind = "info", children }: { kind?: keyof typeof icons; children: ReactNode }) {
  return (
    <div className={styles["note"]} data-kind={kind} role={kind === "bad" ? "alert" : undefined}>
      <Icon name={icons[kind]} />
      <div>{children}</div>
    </div>
  );
}
