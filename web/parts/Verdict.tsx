import { type Verdict, verdictWords } from "../domain/verdict.ts";
import styles from "./Verdict.module.css";

/** A shape for each verdict, so that it is told apart without its colour, on a field of 16 by 16. */
const shapes: Readonly<Record<Verdict, { outline: string; sign: string; dashes?: string }>> = {
  compliant: { outline: "M8 14.5a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13", sign: "M5 8.3 7.2 10.5 11 6" },
  "non-compliant": {
    outline: "M5.3 1.5h5.4l3.8 3.8v5.4l-3.8 3.8H5.3L1.5 10.7V5.3z",
    sign: "M5.8 5.8l4.4 4.4M10.2 5.8l-4.4 4.4",
  },
  incomplete: {
    outline: "M8 14.5a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13",
    sign: "M8 4.5V8l2.2 1.6",
    dashes: "2.6 1.8",
  },
  missing: { outline: "M2 2h12v12H2z", sign: "M5 8h6", dashes: "2.6 1.8" },
  unknown: {
    outline: "M8 1.2 14.8 8 8 14.8 1.2 8z",
    sign: "M6.6 6.6a1.5 1.5 0 1 1 2 1.4c-.4.2-.6.5-.6.9M8 10.8h.01",
  },
  exempt: {
    outline: "M8 1.5 13.5 3.5V8c0 3.3-2.3 5.3-5.5 6.5C4.8 13.3 2.5 11.3 2.5 8V3.5z",
    sign: "M5.8 8h4.4",
  },
};

/** Draws the shape of a verdict. */
function VerdictShape({ verdict, size = 16 }: { verdict: Verdict; size?: number }) {
  const { outline, sign, dashes } = shapes[verdict];
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={outline} strokeDasharray={dashes} fill="currentColor" fillOpacity="0.12" />
      <path d={sign} />
    </svg>
  );
}

interface VerdictMarkProps {
  verdict: Verdict;
  /** In place of the verdict's own word. */
  words?: string | undefined;
  isPill?: boolean;
  /** The shape alone, where the column says what it is about; the word is still there to be read out. */
  isBare?: boolean;
}

/** Shows a verdict by shape, word and colour. */
export function VerdictMark({ verdict, words = verdictWords[verdict], isPill, isBare }: VerdictMarkProps) {
  return (
    <span
      className={isPill === true ? `${styles["verdict"]} ${styles["pill"]}` : styles["verdict"]}
      data-verdict={verdict}
      title={isBare === true ? words : undefined}
    >
      <VerdictShape verdict={verdict} size={isPill === true ? 15 : 16} />
      <span className={isBare === true ? "visually-hidden" : undefined}>{words}</span>
    </span>
  );
}
