import type { ReactNode } from "react";

import { Icon } from "./Icon.tsx";
import styles from "./Layout.module.css";

/** Parts below each other. */
export function Stack({ children }: { children: ReactNode }) {
  return <div className={styles["stack"]}>{children}</div>;
}

/** Parts beside each other, as many as fit. */
export function Row({ children }: { children: ReactNode }) {
  return <div className={styles["row"]}>{children}</div>;
}

/** Cards beside each other, equally wide; below each other on narrow screens. */
export function Columns({ children }: { children: ReactNode }) {
  return <div className={styles["columns"]}>{children}</div>;
}

/** The matter, and beside it what is known about it; below each other on narrow screens. */
export function Split({ children }: { children: ReactNode }) {
  return <div className={styles["split"]}>{children}</div>;
}

/** A part of a page with a heading of its own. */
export function Card({ title, aside, children }: { title?: string; aside?: ReactNode; children: ReactNode }) {
  return (
    <section className={styles["card"]} aria-label={title}>
      {title === undefined ? null : (
        <div className={styles["cardHead"]}>
          <h2>{title}</h2>
          {aside}
        </div>
      )}
      {children}
    </section>
  );
}

/** Names and what they stand for, below each other. What is undefined is left out. */
export function Facts({ facts }: { facts: readonly (readonly [string, ReactNode])[] }) {
  const shown = facts.filter(([, value]) => value !== undefined && value !== null && value !== "");
  return (
    <dl className={styles["facts"]}>
      {shown.map(([name, value]) => (
        <FactLine key={name} name={name} value={value} />
      ))}
    </dl>
  );
}

function FactLine({ name, value }: { name: string; value: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </>
  );
}

/** A word in a frame: a kind, or one of several tags. */
export function Tag({ children }: { children: ReactNode }) {
  return <span className={styles["tag"]}>{children}</span>;
}

/** Tags by key, a few of them; the rest is told when pointed at. */
export function Tags({ tags, shown = 2 }: { tags: Readonly<Record<string, string>>; shown?: number }) {
  const all = Object.entries(tags).map(([key, value]) => (value === "" ? key : `${key}: ${value}`));
  const rest = all.slice(shown);
  return (
    <span className={styles["tags"]}>
      {all.slice(0, shown).map((tag) => (
        <Tag key={tag}>{tag}</Tag>
      ))}
      {rest.length === 0 ? null : (
        <span className={styles["tag"]} title={rest.join("\n")}>
          +{rest.length}
          <span className="visually-hidden">: {rest.join(", ")}</span>
        </span>
      )}
    </span>
  );
}

/** A text that takes one line, however long it is. */
export function OneLine({ text }: { text: string }) {
  return (
    <span className={styles["oneLine"]} title={text}>
      {text}
    </span>
  );
}

/** Long names and sentences in a cell: broken where they must be, with room for their words. */
export function Wrapping({ children }: { children: ReactNode }) {
  return <div className={styles["wrapping"]}>{children}</div>;
}

/** Words that matter less than those beside them. */
export function Quiet({ children, isSmall }: { children: ReactNode; isSmall?: boolean }) {
  return (
    <span className={isSmall === true ? `${styles["quiet"]} ${styles["small"]}` : styles["quiet"]}>
      {children}
    </span>
  );
}

/** What is folded away until somebody wants it. Printed it is open. */
export function Fold({
  title,
  isOpen,
  onToggle,
  children,
}: {
  title: ReactNode;
  isOpen?: boolean;
  /** Called when it was opened or closed. */
  onToggle?: (isOpen: boolean) => void;
  children: ReactNode;
}) {
  return (
    <details
      className={styles["fold"]}
      open={isOpen}
      onToggle={(event) => onToggle?.(event.currentTarget.open)}
    >
      <summary>
        <Icon name="chevron" size={12} />
        {title}
      </summary>
      <div>{children}</div>
    </details>
  );
}
