import { getRouteApi } from "@tanstack/react-router";
import { useRef } from "react";

import { useRefusal } from "../../api/account.ts";
import { sending, type Sending, useActions } from "../../api/action.ts";
import { actionDraft, actionText, draftOverTheirs, type WrittenAction } from "../../domain/action-drafts.ts";
import { SavedMeanwhile, undecided } from "../../parts/ChangedMeanwhile.tsx";
import { LeaveGuard } from "../../parts/LeaveGuard.tsx";
import { Note } from "../../ui/Note.tsx";
import { useWrittenOver } from "../../ui/useWrittenOver.ts";
import { ActionForm } from "./ActionForm.tsx";
import styles from "./Actions.module.css";
import type { Action } from "./queries.ts";

const route = getRouteApi("/$org/actions/$number");

/** Names what writes an action anew: one on environments in its place; one on flows as a new one, after which the old one goes. */
function replacing(org: string, action_number: number, written: WrittenAction): Sending[] {
  if (written.type === "env")
    return [
      sending("PUT /organizations/{org}/environments_notifications/{notification_number}", {
        params: { org, notification_number: action_number },
        body: written,
      }),
    ];
  return [
    sending("PUT /actions/{org}/flows", { params: { org }, body: written }),
    sending("DELETE /actions/{org}/{action_number}", { params: { org, action_number } }),
  ];
}

/** Changes what an action watches, waits for and tells. */
export function ChangeAction({ action }: { action: Action }) {
  const { org } = route.useParams();
  const navigate = route.useNavigate();
  const refused = useRefusal(
    org,
    "PUT /organizations/{org}/environments_notifications/{notification_number}",
  );
  const kept = actionDraft(action);
  const written = useWrittenOver(kept, (draft) => actionText(action.type, draft));
  const { draft, write, begun, isChanged, overtaken } = written;
  const isDone = useRef(false);
  const keep = (): void => {
    write(draftOverTheirs(draft, begun, kept));
    written.keep();
  };
  const toAction = (): Promise<void> => {
    isDone.current = true;
    return navigate({ search: {} });
  };
  const change = useActions(() => {
    if (action.type === "env") return toAction();
    isDone.current = true;
    return navigate({ to: "/$org/actions", params: { org }, search: {} });
  });
  const sends = (given: WrittenAction): Sending[] => replacing(org, action.number, given);
  return (
    <div className={styles["sections"]}>
      {action.type === "flow" ? (
        <Note>
          An action on flows gets another number when it is changed, and addresses of webhooks have to be
          given again.
        </Note>
      ) : null}
      <ActionForm
        org={org}
        type={action.type}
        draft={draft}
        onChange={write}
        // Only actions on environments can be replaced in place, which keeps addresses.
        keeps={action.type === "env" && !action.addresses_forgotten}
        submit="Save"
        action={change}
        refused={refused ?? (overtaken === undefined ? undefined : undecided)}
        meanwhile={<SavedMeanwhile what="this action" written={{ ...written, keep }} />}
        sends={sends}
        onSubmit={(given) => change.mutate(sends(given))}
        onCancel={() => void toAction()}
      />
      <LeaveGuard isChanged={() => isChanged && !isDone.current} also={{ without: "edit" }} />
    </div>
  );
}
