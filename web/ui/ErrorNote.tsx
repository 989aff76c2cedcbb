import { useEffect, useEffectEvent, useState } from "react";

import { Button } from "./Button.tsx";
import { Copy } from "./Copy.tsx";
import { Note } from "./Note.tsx";
import styles from "./Note.module.css";

/** What is known of a failure. */
interface Failure {
  message: string;
  /** HTTP status; 0 when there was no answer. */
  status?: number;
  requestId?: string | undefined;
  /** Seconds. */
  retryAfter?: number | undefined;
  /** When it failed, which tells it from one like it. */
  at?: number;
}

interface RetryButtonProps {
  /** Seconds to wait, after which it tries again by itself; 0 where nobody said how long. */
  after: number;
  retry: () => void;
}

function RetryButton({ after, retry }: RetryButtonProps) {
  const [left, setLeft] = useState(Math.ceil(after));
  const [isTrying, setTrying] = useState(false);
  const tryAgain = useEffectEvent(() => {
    setTrying(true);
    retry();
  });
  useEffect(() => {
    if (left <= 0) return undefined;
    const timer = setTimeout(() => {
      setLeft(left - 1);
      if (left === 1) tryAgain();
    }, 1_000);
    return () => clearTimeout(timer);
  }, [left]);
  if (left > 0) return <p className={styles["countdown"]}>It is tried again in {left} s.</p>;
  return (
    <Button
      onClick={() => {
        setTrying(true);
        retry();
      }}
    >
      {isTrying ? "Trying again…" : "Try again"}
    </Button>
  );
}

interface ErrorNoteProps {
  failure: Failure;
  retry?: () => void;
  /** What failed, where that does not go without saying. */
  what?: string | undefined;
}

/** Says in the part that failed what happened, and tries again: by itself where the server said when, else when asked to. */
export function ErrorNote({
  failure,
  retry,
  what = retry === undefined ? undefined : "This could not be read",
}: ErrorNoteProps) {
  const { message, requestId, retryAfter = 0, at } = failure;
  return (
    <Note kind="bad">
      {what === undefined ? null : <p className={styles["what"]}>{what}</p>}
      <p>{message}</p>
      {requestId === undefined ? null : (
        <p className={styles["small"]}>
          Request <Copy text={requestId} what="request id" />
        </p>
      )}
      {retry === undefined ? null : (
        <div className={styles["actions"]}>
          <RetryButton key={at} after={retryAfter} retry={retry} />
        </div>
      )}
    </Note>
  );
}
