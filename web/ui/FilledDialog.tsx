import { type ComponentProps, useState } from "react";
import { flushSync } from "react-dom";

import { Button } from "./Button.tsx";
import { Dialog, Foot } from "./Dialog.tsx";
import styles from "./Dialog.module.css";
import type { FilledIn } from "./useFilledIn.ts";

interface AskToLeaveProps {
  title: string;
  /** What the button says that lets go of what was written. */
  leave: string;
  onStay: () => void;
  onLeave: () => void;
}

/** Asks whether what was written is to be let go of. */
export function AskToLeave({ title, leave, onStay, onLeave }: AskToLeaveProps) {
  return (
    <Dialog title={title} onClose={onStay}>
      <p>What you have written here is lost then.</p>
      <Foot>
        <Button onClick={onStay}>Stay</Button>
        <Button look="destroy" onClick={onLeave}>
          {leave}
        </Button>
      </Foot>
    </Dialog>
  );
}

/** A dialog with fields: once they are filled in, Esc, a click beside it and its cross ask before they close it. */
export function FilledDialog({
  filled: { within, isFilledIn },
  onClose,
  children,
  ...rest
}: ComponentProps<typeof Dialog> & { filled: FilledIn }) {
  const [isAsked, ask] = useState(false);
  return (
    <>
      <Dialog {...rest} onClose={() => (isFilledIn() ? ask(true) : onClose())}>
        <div ref={within} className={styles["filled"]}>
          {children}
        </div>
      </Dialog>
      {isAsked ? (
        <AskToLeave
          title="Close without saving?"
          leave="Close it"
          onStay={() => ask(false)}
          onLeave={() => {
            // While it is asked nothing else can be given the focus that was taken from it.
            flushSync(() => ask(false));
            onClose();
          }}
        />
      ) : null}
    </>
  );
}
