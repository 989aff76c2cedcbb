import { useMemo } from "react";

import { type DiffLine, diffLines, type SkippedLines, withContext } from "../domain/line-diff.ts";
import styles from "./TextDiff.module.css";

const signs = { same: " ", added: "+", removed: "−" } as const;
const spoken = { same: "", added: "added: ", removed: "removed: " } as const;

function Line({ line }: { line: DiffLine | SkippedLines }) {
  if (line.kind === "skipped")
    return (
      <tr data-kind="skipped">
        <td colSpan={4}>
          {line.count} {line.count === 1 ? "line" : "lines"} unchanged
        </td>
      </tr>
    );
  return (
    <tr data-kind={line.kind}>
      <td className={styles["number"]}>{line.before}</td>
      <td className={styles["number"]}>{line.after}</td>
      <td className={styles["sign"]} aria-hidden="true">
        {signs[line.kind]}
      </td>
      <td>
        <span className="visually-hidden">{spoken[line.kind]}</span>
        {line.text}
      </td>
    </tr>
  );
}

/** Shows what was taken from a text and what was added to it, with the lines around. */
export function TextDiff({ before, after, label }: { before: string; after: string; label: string }) {
  const lines = useMemo(() => diffLines(before, after), [before, after]);
  const added = lines.filter(({ kind }) => kind === "added").length;
  const removed = lines.filter(({ kind }) => kind === "removed").length;
  if (added + removed === 0) return <p>Both say the same, line by line.</p>;
  return (
    <div>
      <p className={styles["counts"]}>
        <span className={styles["added"]}>
          {added} {added === 1 ? "line" : "lines"} added
        </span>
        <span className={styles["removed"]}>
          {removed} {removed === 1 ? "line" : "lines"} removed
        </span>
      </p>
      {/* Long lines are scrolled, by keyboard as well. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <section className={styles["diff"]} tabIndex={0} aria-label={label}>
        <table aria-label={label}>
          <tbody>
            {withContext(lines).map((line) => (
              <Line
                key={`${line.kind} ${"before" in line ? (line.before ?? "") : ""} ${line.after}`}
                line={line}
              />
            ))}
          </tbody>
        </table>
      </section>
    </div>
  );
}
