import type { ReactNode } from "react";

import { Button } from "../ui/Button.tsx";
import { Row } from "../ui/Layout.tsx";
import { Note } from "../ui/Note.tsx";
import { TextDiff } from "../ui/TextDiff.tsx";
import type { WrittenOver } from "../ui/useWrittenOver.ts";
import styles from "./ChangedMeanwhile.module.css";

/** Why nothing is saved before it was decided what is to be. */
export const undecided = "Somebody else has changed it meanwhile";

interface ChangedMeanwhileProps {
  /** Says who was faster. */
  says: string;
  take: () => void;
  keep: () => void;
  /** What they have made of it. */
  children: ReactNode;
}

/** Says that somebody else was faster and what they have made of it, and asks which is to be. */
export function ChangedMeanwhile({ says, take, keep, children }: ChangedMeanwhileProps) {
  return (
    <Note kind="bad">
      <p>{says}</p>
      <div className={styles["changed"]}>{children}</div>
      <Row>
        <Button onClick={take}>Show theirs</Button>
        <Button onClick={keep}>Keep mine, to be saved over theirs</Button>
      </Row>
    </Note>
  );
}

type Overtaken = Pick<WrittenOver<never>, "overtaken" | "take" | "keep">;

/** Shows what somebody else has saved since a text was begun, until it is decided which is to be. @param what what they have saved. */
export function SavedMeanwhile({ what, written }: { what: string; written: Overtaken }) {
  const { overtaken, take, keep } = written;
  if (overtaken === undefined) return null;
  return (
    <ChangedMeanwhile
      says={`Somebody else has saved ${what} since you began. What they changed:`}
      take={take}
      keep={keep}
    >
      <TextDiff {...overtaken} label="What they changed" />
    </ChangedMeanwhile>
  );
}
