import { type DraftTarget, needsAddress, type TargetType } from "../../domain/actions.ts";
import { Button } from "../../ui/Button.tsx";
import { Field } from "../../ui/Field.tsx";
import styles from "./Actions.module.css";
import { targetWords } from "./ActionState.tsx";

const types: readonly TargetType[] = ["WEBHOOK", "SLACK", "EMAIL"];

interface TargetProps {
  target: DraftTarget;
  place: number;
  keeps: boolean;
  onChange: (target: DraftTarget) => void;
  onRemove: () => void;
}

function Address({ target, place, keeps, onChange }: TargetProps) {
  const isNeeded = !keeps || needsAddress(target, place);
  if (target.type === "EMAIL")
    return (
      <Field label="Addresses" hint="One a line.">
        {(tie) => (
          <textarea
            {...tie}
            required
            value={target.emails}
            onChange={(event) => onChange({ ...target, emails: event.target.value })}
          />
        )}
      </Field>
    );
  return (
    <Field
      label="Webhook address"
      hint={
        isNeeded ? "A secret: it is never shown again." : "Empty keeps the stored one, which cannot be shown."
      }
    >
      {(tie) => (
        <input
          {...tie}
          type="url"
          required={isNeeded}
          autoComplete="off"
          placeholder={isNeeded ? "https://" : "unchanged"}
          value={target.webhook}
          onChange={(event) => onChange({ ...target, webhook: event.target.value })}
        />
      )}
    </Field>
  );
}

function Target(props: TargetProps) {
  const { target, place, onChange, onRemove } = props;
  return (
    <div className={styles["target"]}>
      <Field label={`Target ${place + 1}`}>
        {(tie) => (
          <select
            {...tie}
            value={target.type}
            onChange={(event) => {
              const type = types.find((one) => one === event.target.value) ?? target.type;
              const { was: _was, ...fresh } = target;
              onChange({ ...fresh, type });
            }}
          >
            {types.map((type) => (
              <option key={type} value={type}>
                {targetWords[type]}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Address {...props} />
      <Button look="quiet" icon="trash" aria-label={`Remove target ${place + 1}`} onClick={onRemove} />
    </div>
  );
}

interface TargetsProps {
  targets: readonly DraftTarget[];
  /** Whether an empty address keeps the one that is stored. */
  keeps: boolean;
  onChange: (targets: DraftTarget[]) => void;
}

/** Chooses who is told, and where. */
export function Targets({ targets, keeps, onChange }: TargetsProps) {
  const nextKey = Math.max(0, ...targets.map(({ key }) => key)) + 1;
  return (
    <fieldset className={styles["group"]}>
      <legend>Tell</legend>
      {targets.map((target, place) => (
        <Target
          key={target.key}
          target={target}
          place={place}
          keeps={keeps}
          onChange={(changed) => onChange(targets.map((one) => (one === target ? changed : one)))}
          onRemove={() => onChange(targets.filter((one) => one !== target))}
        />
      ))}
      <div>
        <Button
          icon="plus"
          onClick={() => onChange([...targets, { key: nextKey, type: "WEBHOOK", webhook: "", emails: "" }])}
        >
          Add a target
        </Button>
      </div>
    </fieldset>
  );
}
