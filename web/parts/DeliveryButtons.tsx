import { Button } from "../ui/Button.tsx";
import styles from "./DeliveryButtons.module.css";

interface DeliveryButtonsProps {
  /** Names of the buttons, for who does not see beside what they stand. */
  words: { payload: string; replay: string };
  isOpen: boolean;
  onOpen: () => void;
  /** Why it cannot be replayed now. */
  refused: string | undefined;
  onReplay: () => void;
}

/** Opens and closes what a delivery carries, and replays it. */
export function DeliveryButtons({ words, isOpen, onOpen, refused, onReplay }: DeliveryButtonsProps) {
  return (
    <span className={styles["buttons"]}>
      <Button icon="json" aria-label={words.payload} aria-expanded={isOpen} onClick={onOpen} />
      <Button refused={refused} aria-label={words.replay} onClick={onReplay}>
        Replay
      </Button>
    </span>
  );
}
