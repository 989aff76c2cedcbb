import type { ReactNode } from "react";

import { Button } from "./Button.tsx";
import styles from "./Note.module.css";

interface EmptyProps {
  title: string;
  text?: ReactNode;
  children?: ReactNode;
}

/** Stands where a list would be: nothing exists yet, or nothing matches. The children say what to do about it. */
export function Empty({ title, text, children }: EmptyProps) {
  return (
    <section className={styles["empty"]}>
      <h2>{title}</h2>
      {text === undefined ? null : <p>{text}</p>}
      {children === undefined ? null : <div>{children}</div>}
    </section>
  );
}

/** Stands where a list would be of which nothing is as its filters say, and takes these away. */
export function NoMatch({ children, onClear, ...said }: EmptyProps & { onClear: () => void }) {
  return (
    <Empty {...said}>
      <p>
        <Button onClick={onClear}>Clear the filters</Button>
      </p>
      {children}
    </Empty>
  );
}
