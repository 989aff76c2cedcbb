import { Status } from "../../ui/Status.tsx";
import type { Action } from "./queries.ts";

/** What the kinds of targets are called. */
export const targetWords = { WEBHOOK: "Webhook", SLACK: "Slack", EMAIL: "E-mail" } as const;

/** Says whether an action reaches whom it tells. */
export function ActionState({ action }: { action: Action }) {
  if (action.addresses_forgotten) return <Status kind="bad" words="No address" />;
  if (action.is_failing === true) return <Status kind="bad" words="Failing" />;
  if (action.last_success_timestamp === null) return <Status kind="quiet" words="Never fired" />;
  return <Status kind="good" words="Delivers" />;
}
