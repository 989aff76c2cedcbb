import type { FormEvent, ReactNode } from "react";

import type { Sending } from "../../api/action.ts";
import {
  type ActionDraft,
  type ActionType,
  missingIn,
  type WrittenAction,
  writtenAction,
} from "../../domain/action-drafts.ts";
import { offeredTriggers, triggerWords } from "../../domain/actions.ts";
import { wrongField } from "../../parts/ActionDialog.tsx";
import { Refused } from "../../parts/Refused.tsx";
import { Sent } from "../../parts/Sent.tsx";
import { Button } from "../../ui/Button.tsx";
import { Check, Field } from "../../ui/Field.tsx";
import { Row } from "../../ui/Layout.tsx";
import styles from "./Actions.module.css";
import { SubjectNames } from "./SubjectNames.tsx";
import { Targets } from "./Targets.tsx";

interface TriggersProps {
  type: ActionType;
  chosen: readonly string[];
  onChange: (triggers: string[]) => void;
}

function Triggers({ type, chosen, onChange }: TriggersProps) {
  return (
    <fieldset className={styles["group"]}>
      <legend>When</legend>
      <div className={styles["checks"]}>
        {offeredTriggers[type].map((trigger) => (
          <Check
            key={trigger}
            checked={chosen.includes(trigger)}
            onChange={(event) =>
              onChange(event.target.checked ? [...chosen, trigger] : chosen.filter((one) => one !== trigger))
            }
          >
            {triggerWords[trigger]}
          </Check>
        ))}
      </div>
    </fieldset>
  );
}

interface ActionFormProps {
  org: string;
  type: ActionType;
  draft: ActionDraft;
  onChange: (draft: ActionDraft) => void;
  /** Whether targets that were not written anew keep the addresses that are stored. */
  keeps: boolean;
  submit: string;
  action: { isPending: boolean; error: Error | null };
  refused: string | undefined;
  /** What has to be decided before it is sent. */
  meanwhile?: ReactNode;
  /** The requests that write it. */
  sends: (written: WrittenAction) => Sending[];
  onSubmit: (written: WrittenAction) => void;
  onCancel: () => void;
}

/** Asks what an action watches, for what it waits, and whom it tells. */
export function ActionForm({
  org,
  type,
  draft,
  onChange,
  keeps,
  submit,
  action,
  refused,
  meanwhile,
  sends,
  onSubmit,
  onCancel,
}: ActionFormProps) {
  const change = (part: Partial<ActionDraft>): void => onChange({ ...draft, ...part });
  const missing = missingIn(type, draft);
  const reason = action.isPending ? "Under way" : (refused ?? missing);
  const written = writtenAction(type, draft);
  const send = (event: FormEvent): void => {
    event.preventDefault();
    if (reason === undefined) onSubmit(written);
  };
  return (
    <form className={styles["form"]} onSubmit={send}>
      <Field label="Name" wrong={wrongField(action.error, "name")}>
        {(tie) => (
          <input
            {...tie}
            required
            autoComplete="off"
            value={draft.name}
            onChange={(event) => change({ name: event.target.value })}
          />
        )}
      </Field>
      <SubjectNames org={org} type={type} names={draft.subjects} typed={draft.typed} onChange={change} />
      <Triggers type={type} chosen={draft.triggers} onChange={(triggers) => change({ triggers })} />
      <Targets targets={draft.targets} keeps={keeps} onChange={(targets) => change({ targets })} />
      {meanwhile}
      {action.error === null ? null : <Refused error={action.error} />}
      <Row>
        <Button type="submit" look="primary" refused={reason}>
          {submit}
        </Button>
        <Button onClick={onCancel}>Cancel</Button>
      </Row>
      <Sent sends={missing === undefined ? sends(written) : []} />
    </form>
  );
}
