import { type ReactNode, type RefObject, useId, useRef } from "react";

import type { TextProblem } from "../domain/policy-errors.ts";
import { CodeEditor, type CodeEditorHandle } from "../ui/CodeEditor.tsx";
import { ErrorNote } from "../ui/ErrorNote.tsx";
import { Quiet } from "../ui/Layout.tsx";
import { VerdictMark } from "./Verdict.tsx";
import styles from "./Writing.module.css";

/** What is known of a text that somebody writes. */
export interface Check {
  state: "checking" | "right" | "wrong" | "failed";
  problems: readonly TextProblem[];
  /** Why it could not be checked. */
  error: Error | undefined;
}

/** How long after the last key a text is checked, in milliseconds. */
export const checkPauseMs = 400;

interface CheckLineProps {
  state: Check["state"];
  /** How many mistakes it has. */
  count: number;
  /** What a text without mistakes is called: "A policy without mistakes". */
  right: string;
  id?: string;
}

/** Says whether a text has mistakes, and how many. */
export function CheckLine({ state, count, right, id }: CheckLineProps) {
  const words = `${count} ${count === 1 ? "mistake" : "mistakes"}`;
  return (
    <span id={id} role="status">
      {count > 0 ? (
        <VerdictMark verdict="non-compliant" words={words} />
      ) : state === "right" ? (
        <VerdictMark verdict="compliant" words={right} />
      ) : (
        <Quiet>{state === "failed" ? "Not checked" : "Checking…"}</Quiet>
      )}
    </span>
  );
}

function Problems({ check, editor }: { check: Check; editor: RefObject<CodeEditorHandle | null> }) {
  if (check.problems.length === 0) return null;
  return (
    <ul className={styles["problems"]} aria-label="Mistakes">
      {check.problems.map((problem) => (
        <li key={`${problem.line} ${problem.column} ${problem.part} ${problem.message}`}>
          <button type="button" onClick={() => editor.current?.goTo(problem)}>
            <span className={styles["place"]}>
              line {problem.line}:{problem.column}
            </span>
            <span>
              {problem.message}
              {problem.part === "" ? null : <span className={styles["part"]}>{problem.part}</span>}
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}

interface WritingProps {
  label: string;
  text: string;
  onWrite: (text: string) => void;
  check: Check;
  /** What a text without mistakes is called. */
  right: string;
  /** Stands above it: what has to be decided first. */
  above?: ReactNode;
  /** Stands beside what the check says. */
  tools?: ReactNode;
  /** Ends it: what is done with the text. */
  children: ReactNode;
}

/** A text in YAML with its mistakes at their places, which are listed below it, too. */
export function Writing({ label, text, onWrite, check, right, above, tools, children }: WritingProps) {
  const id = useId();
  const editor = useRef<CodeEditorHandle>(null);
  return (
    <div className={styles["writing"]}>
      {above}
      <div className={styles["line"]}>
        <CheckLine state={check.state} count={check.problems.length} right={right} id={id} />
        {tools}
      </div>
      <div className={styles["room"]}>
        <CodeEditor
          label={label}
          text={text}
          onChange={onWrite}
          problems={check.problems}
          describedBy={id}
          handle={editor}
        />
      </div>
      <Problems check={check} editor={editor} />
      {check.error === undefined ? null : <ErrorNote failure={check.error} />}
      <div className={styles["line"]}>
        <Quiet isSmall>Tab indents; Esc, then Tab leaves the text.</Quiet>
        {children}
      </div>
    </div>
  );
}

/** What is written, and beside it what comes of it; below each other on narrow screens. */
export function WritingSides({ children }: { children: ReactNode }) {
  return <div className={styles["sides"]}>{children}</div>;
}
