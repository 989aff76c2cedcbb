import { type FormEvent, useState } from "react";

import {
  type DraftTarget,
  draftTargets,
  type EnvironmentTrigger,
  type FlowTrigger,
  givenTargets,
  offeredTriggers,
  triggerWords,
} from "../../domain/actions.ts";
import type { Sending } from "../../api/action.ts";
import { wrongField } from "../../parts/ActionDialog.tsx";
import { Sent } from "../../parts/Sent.tsx";
import { Button } from "../../ui/Button.tsx";
import { ErrorNote } from "../../ui/ErrorNote.tsx";
import { Check, Field } from "../../ui/Field.tsx";
import { Row } from "../../ui/Layout.tsx";
import styles from "./Actions.module.css";
import type { Action } from "./queries.ts";
import { SubjectNames } from "./SubjectNames.tsx";
import { Targets } from "./Targets.tsx";

type Given = { name: string; targets: ReturnType<typeof givenTargets> };

/** An action as it was written. */
export type WrittenAction =
  | (Given & { type: "env"; environments: string[]; triggers: EnvironmentTrigger[] })
  | (Given & { type: "flow"; flows: string[]; triggers: FlowTrigger[] });

interface Draft {
  name: string;
  subjects: string[];
  triggers: readonly string[];
  targets: DraftTarget[];
}

function draftOf(stored: Action | undefined): Draft {
  if (stored === undefined)
    return {
      name: "",
      subjects: [],
      triggers: [],
      targets: [{ key: 0, type: "WEBHOOK", webhook: "", emails: "" }],
    };
  const { name, environments, flows, triggers, targets } = stored;
  return { name, subjects: environments ?? flows ?? [], triggers, targets: draftTargets(targets) };
}

function writtenOf(type: "env" | "flow", draft: Draft): WrittenAction {
  const given = { name: draft.name, targets: givenTargets(draft.targets) };
  const isChosen = (trigger: string): boolean => draft.triggers.includes(trigger);
  if (type === "flow")
    return { ...given, type, flows: draft.subjects, triggers: offeredTriggers.flow.filter(isChosen) };
  return { ...given, type, environments: draft.subjects, triggers: offeredTriggers.env.filter(isChosen) };
}

/** Says what is still missing, which the browser cannot tell by itself. */
function missingIn(type: "env" | "flow", draft: Draft): string | undefined {
  if (draft.subjects.length === 0)
    return type === "env" ? "Choose an environment first" : "Choose a flow first";
  const { triggers } = writtenOf(type, draft);
  if (triggers.length === 0) return "Choose when it happens first";
  return draft.targets.length === 0 ? "Choose who is told first" : undefined;
}

interface TriggersProps {
  type: "env" | "flow";
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
  type: "env" | "flow";
  /** What it is now; undefined for a new one. */
  stored?: Action;
  submit: string;
  action: { isPending: boolean; error: Error | null };
  refused: string | undefined;
  /** The requests that write it. */
  sends: (written: WrittenAction) => Sending[];
  onSubmit: (written: WrittenAction) => void;
  onCancel: () => void;
}

/** Asks what an action watches, for what it waits, and whom it tells. */
export function ActionForm({
  org,
  type,
  stored,
  submit,
  action,
  refused,
  sends,
  onSubmit,
  onCancel,
}: ActionFormProps) {
  const [draft, setDraft] = useState(() => draftOf(stored));
  const change = (part: Partial<Draft>): void => setDraft((before) => ({ ...before, ...part }));
  const missing = missingIn(type, draft);
  const reason = action.isPending ? "Under way" : (refused ?? missing);
  const send = (event: FormEvent): void => {
    event.preventDefault();
    if (reason === undefined) onSubmit(writtenOf(type, draft));
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
      <SubjectNames
        org={org}
        type={type}
        names={draft.subjects}
        onChange={(subjects) => change({ subjects })}
      />
      <Triggers type={type} chosen={draft.triggers} onChange={(triggers) => change({ triggers })} />
      <Targets
        targets={draft.targets}
        // Only actions on environments can be replaced in place, which keeps addresses.
        keeps={type === "env" && stored?.addresses_forgotten !== true}
        onChange={(targets) => change({ targets })}
      />
      {action.error === null ? null : <ErrorNote failure={action.error} />}
      <Row>
        <Button type="submit" look="primary" refused={reason}>
          {submit}
        </Button>
        <Button onClick={onCancel}>Cancel</Button>
      </Row>
      <Sent sends={missing === undefined ? sends(writtenOf(type, draft)) : []} />
    </form>
  );
}
