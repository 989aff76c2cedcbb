import { useQuery } from "@tanstack/react-query";
import { useDeferredValue, useId } from "react";

import type { ActionDraft, ActionType } from "../../domain/action-drafts.ts";
import { environmentNamesQuery } from "../../parts/queries.ts";
import { Button } from "../../ui/Button.tsx";
import { Field } from "../../ui/Field.tsx";
import styles from "./Actions.module.css";
import { flowNamesQuery } from "./queries.ts";

/** Finds names that contain a text, twenty at most. */
function useNames(org: string, type: ActionType, text: string): string[] {
  const part = useDeferredValue(text.trim());
  const environments = useQuery({
    ...environmentNamesQuery(org, part),
    enabled: type === "env" && part !== "",
  }).data;
  const flows = useQuery({ ...flowNamesQuery(org, part), enabled: type === "flow" && part !== "" }).data;
  if (type === "flow") return (Array.isArray(flows) ? flows : (flows?.data ?? [])).map(({ name }) => name);
  return (Array.isArray(environments) ? environments : (environments?.environments ?? [])).map(
    ({ name }) => name,
  );
}

interface SubjectNamesProps {
  org: string;
  type: ActionType;
  names: readonly string[];
  /** A name that was not added yet. */
  typed: string;
  onChange: (part: Partial<Pick<ActionDraft, "subjects" | "typed">>) => void;
}

/** Chooses environments or flows by name, one after another. */
export function SubjectNames({ org, type, names, typed, onChange }: SubjectNamesProps) {
  const id = useId();
  const known = useNames(org, type, typed);
  const add = (): void => {
    const name = typed.trim();
    const isNew = name !== "" && !names.includes(name);
    onChange({ subjects: isNew ? [...names, name] : [...names], typed: "" });
  };
  return (
    <fieldset className={styles["group"]}>
      <legend>{type === "env" ? "In these environments" : "In these flows"}</legend>
      {names.length === 0 ? null : (
        <div className={styles["names"]}>
          {names.map((name) => (
            <span key={name} className={styles["chosen"]}>
              {name}
              <Button
                look="quiet"
                icon="close"
                aria-label={`Without ${name}`}
                onClick={() => onChange({ subjects: names.filter((one) => one !== name) })}
              />
            </span>
          ))}
        </div>
      )}
      <div className={styles["adding"]}>
        <Field label={type === "env" ? "Environment" : "Flow"}>
          {(tie) => (
            <input
              {...tie}
              list={id}
              autoComplete="off"
              value={typed}
              onChange={(event) => onChange({ typed: event.target.value })}
              onKeyDown={(event) => {
                if (event.key !== "Enter") return;
                event.preventDefault();
                add();
              }}
            />
          )}
        </Field>
        <Button icon="plus" onClick={add}>
          Add
        </Button>
      </div>
      <datalist id={id}>
        {known.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </datalist>
    </fieldset>
  );
}
