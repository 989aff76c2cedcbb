import { type RefObject, useEffect, useImperativeHandle, useRef, useState } from "react";

import type { CodeProblem, MountedEditor } from "./code-mirror.ts";
import styles from "./CodeEditor.module.css";

/** What a page can make its editor do. */
export interface CodeEditorHandle {
  goTo(problem: CodeProblem): void;
}

interface CodeEditorProps {
  label: string;
  text: string;
  onChange: (text: string) => void;
  problems: readonly CodeProblem[];
  /** Id of what says more about it. */
  describedBy: string;
  handle?: RefObject<CodeEditorHandle | null>;
}

/** Reads what the server lets style sheets of scripts be known by. */
function nonceOfPage(): string {
  return document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.nonce ?? "";
}

/** Loads the editor into an element; undefined until it is there, and when it cannot be had. */
function useMounted(
  frame: RefObject<HTMLDivElement | null>,
  { label, text, onChange, describedBy }: CodeEditorProps,
): MountedEditor | undefined {
  const [editor, setEditor] = useState<MountedEditor>();
  const latest = useRef({ text, onChange });
  useEffect(() => {
    latest.current = { text, onChange };
  });
  useEffect(() => {
    let mounted: MountedEditor | undefined;
    let isGone = false;
    const mount = async (): Promise<void> => {
      const { mountEditor } = await import("./code-mirror.ts");
      if (isGone || frame.current === null) return;
      mounted = mountEditor(frame.current, {
        text: latest.current.text,
        label,
        describedBy,
        nonce: nonceOfPage(),
        onChange: (changed) => latest.current.onChange(changed),
      });
      setEditor(mounted);
    };
    // The field that stands there meanwhile does as well.
    mount().catch(() => undefined);
    return () => {
      isGone = true;
      mounted?.destroy();
      setEditor(undefined);
    };
  }, [frame, label, describedBy]);
  return editor;
}

/** Where a line and a column are in a text. */
function offsetOf(text: string, { line, column }: CodeProblem): number {
  const before = text.split("\n").slice(0, line - 1);
  return before.reduce((sum, one) => sum + one.length + 1, 0) + column - 1;
}

/** Edits YAML, with its mistakes at their places. A plain field stands there until the editor is loaded, and if it never is. */
export function CodeEditor(props: CodeEditorProps) {
  const { label, text, onChange, problems, describedBy, handle } = props;
  const frame = useRef<HTMLDivElement>(null);
  const plain = useRef<HTMLTextAreaElement>(null);
  const editor = useMounted(frame, props);
  useEffect(() => editor?.setText(text), [editor, text]);
  useEffect(() => editor?.setProblems(problems), [editor, problems]);
  useImperativeHandle(handle, () => ({
    goTo: (problem) => {
      editor?.goTo(problem);
      const at = offsetOf(plain.current?.value ?? "", problem);
      plain.current?.setSelectionRange(at, at);
      plain.current?.focus();
    },
  }));
  return (
    <div className={styles["editor"]} data-wrong={problems.length > 0}>
      <div ref={frame} hidden={editor === undefined} />
      {editor === undefined ? (
        <textarea
          ref={plain}
          aria-label={label}
          aria-describedby={describedBy}
          aria-invalid={problems.length > 0 || undefined}
          spellCheck={false}
          value={text}
          onChange={(event) => onChange(event.target.value)}
        />
      ) : null}
    </div>
  );
}
