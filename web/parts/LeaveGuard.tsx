import { useBlocker } from "@tanstack/react-router";
import { useEffect } from "react";

import { guardWriting } from "../api/writing.ts";
import { AskToLeave } from "../ui/FilledDialog.tsx";

interface LeaveGuardProps {
  isChanged: () => boolean;
  /** What else than another page loses it: any other address, or one without this name in its search. */
  also?: "any" | { without: string };
}

/** Whether somebody has agreed to leave just now: what guards something else there, too, does not ask again. */
let isAgreed = false;

function agree(): void {
  isAgreed = true;
  setTimeout(() => {
    isAgreed = false;
  });
}

/** Asks before what was written is left behind. */
export function LeaveGuard({ isChanged, also }: LeaveGuardProps) {
  useEffect(() => guardWriting(isChanged), [isChanged]);
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => {
      if (isAgreed || !isChanged()) return false;
      if (also === "any" || current.pathname !== next.pathname) return true;
      return also !== undefined && !(also.without in next.search);
    },
    enableBeforeUnload: isChanged,
    withResolver: true,
  });
  if (status !== "blocked") return null;
  return (
    <AskToLeave
      title="Leave without saving?"
      leave="Leave"
      onStay={reset}
      onLeave={() => {
        agree();
        proceed();
      }}
    />
  );
}
