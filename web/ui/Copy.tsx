import { useState } from "react";

import { copyText } from "./clipboard.ts";
import { Button } from "./Button.tsx";
import styles from "./Copy.module.css";
import { Icon } from "./Icon.tsx";

function useCopied(): [boolean, (text: string) => Promise<void>] {
  const [isCopied, setCopied] = useState(false);
  return [
    isCopied,
    async (text) => {
      if (!(await copyText(text))) return;
      setCopied(true);
      setTimeout(() => setCopied(false), 1_200);
    },
  ];
}

interface CopyProps {
  /** All of it, which is copied, and printed. */
  text: string;
  /** What is shown of it. */
  shown?: string;
  /** What it is: "fingerprint". */
  what: string;
}

/** Shows a digest or the like, which a click copies. */
export function Copy({ text, shown = text, what }: CopyProps) {
  const [isCopied, copy] = useCopied();
  return (
    <button
      type="button"
      className={styles["copy"]}
      data-done={isCopied}
      title={`${text}\nClick to copy`}
      aria-label={`Copy ${what} ${shown}`}
      onClick={() => void copy(text)}
    >
      <span className={styles["part"]}>{shown}</span>
      <span className={styles["whole"]} data-long={text.length > 40 || undefined}>
        {text}
      </span>
      <Icon name={isCopied ? "check" : "copy"} size={12} />
      <output className="visually-hidden">{isCopied ? "Copied" : ""}</output>
    </button>
  );
}

interface CodeBlockProps {
  text: string;
  /** What is shown of it: all, unless said otherwise. */
  shown?: string;
  label: string;
}

/** Shows a command or a file, with a button that copies all of it. */
export function CodeBlock({ text, shown = text, label }: CodeBlockProps) {
  const [isCopied, copy] = useCopied();
  return (
    <div className={styles["block"]}>
      {/* Long lines are scrolled, by keyboard as well. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <pre tabIndex={0} aria-label={label}>
        <code>{shown}</code>
      </pre>
      <Button
        look="quiet"
        icon={isCopied ? "check" : "copy"}
        aria-label={`Copy ${label}`}
        onClick={() => void copy(text)}
      />
    </div>
  );
}
