import styles from "./charts.module.css";

export type Tone = "good" | "bad" | "warn" | "quiet";

/** How high a mark is, so that tones are told apart without colour. */
const heights: Readonly<Record<Tone, number>> = { good: 10, bad: 18, warn: 5, quiet: 2 };

const size = { width: 5, gap: 2, height: 18 };

/** A row of small marks, the oldest first, each by its height and colour. What it says stands beside it, or is read out. */
export function Spark({ tones, words, room }: { tones: readonly Tone[]; words: string; room: number }) {
  const step = size.width + size.gap;
  const first = Math.max(0, room - tones.length);
  return (
    <svg
      className={styles["spark"]}
      width={room * step - size.gap}
      height={size.height}
      role="img"
      aria-label={words}
    >
      <title>{words}</title>
      {tones.map((tone, index) => (
        <rect
          // oxlint-disable-next-line react/no-array-index-key
          key={index}
          data-tone={tone}
          x={(first + index) * step}
          y={size.height - heights[tone]}
          width={size.width}
          height={heights[tone]}
          rx="1"
        />
      ))}
    </svg>
  );
}
