import { getRouteApi } from "@tanstack/react-router";

import { useRefusal } from "../../api/account.ts";
import { sending, type Sending, useActions } from "../../api/action.ts";
import { Note } from "../../ui/Note.tsx";
import { ActionForm, type WrittenAction } from "./ActionForm.tsx";
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
  const change = useActions(() =>
    action.type === "env"
      ? navigate({ search: {} })
      : navigate({ to: "/$org/actions", params: { org }, search: {} }),
  );
  const sends = (written: WrittenAction): Sending[] => replacing(org, action.number, written);
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
        stored={action}
        submit="Save"
        action={change}
        refused={refused}
        sends={sends}
        onSubmit={(written) => change.mutate(sends(written))}
        onCancel={() => void navigate({ search: {} })}
      />
    </div>
  );
}
