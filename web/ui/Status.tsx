import { Icon, type IconName } from "./Icon.tsx";
import styles from "./Status.module.css";

const icons = {
  good: "check",
  bad: "cross",
  warn: "clock",
  quiet: "info",
} as const satisfies Record<string, IconName>;

export type StatusKind = keyof typeof icons;

/** Lists statuses with their words, to choose from. */
export function statusChoices<Name extends string>(
  statuses: Readonly<Record<Name, readonly [StatusKind, string]>>,
): [Name, string][] {
  const entries = Object.entries(statuses) as [Name, readonly [StatusKind, string]][];
  return entries.map(([name, [, words]]) => [name, words]);
}

/** Says how something stands, by sign, word and colour. What complies or not is no status but a verdict. */
export function Status({ kind, words }: { kind: StatusKind; words: string }) {
  return (
    <span className={styles["status"]} data-kind={kind}>
      <Icon name={icons[kind]} size={13} />
      {words}
    </span>
  );
}
