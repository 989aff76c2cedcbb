import styles from "./Note.module.css";

/** Holds the room of what is still to come, and after a moment shows that something is. */
export function Waiting({ size = "small" }: { size?: "small" | "medium" | "large" }) {
  return <div className={styles["waiting"]} data-size={size} aria-busy="true" />;
}
