import { useLive } from "../api/live.ts";
import { exactTime } from "../domain/times.ts";
import { Icon } from "../ui/Icon.tsx";
import styles from "./Frame.module.css";

/** Says whether changes are told as they happen, or when they were last looked for. */
export function LiveMark({ org }: { org: string }) {
  const { isLive, asOf } = useLive(org);
  const at = exactTime(asOf).slice(11);
  return (
    <p
      className={styles["live"]}
      data-live={isLive}
      title={isLive ? "What changes is shown at once" : "What changes is looked for now and then"}
    >
      <Icon name={isLive ? "live" : "clock"} size={13} />
      {isLive ? "Live" : `As of ${at}`}
    </p>
  );
}
