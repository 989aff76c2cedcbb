import { type ComponentProps, type ReactNode, useEffect, useId, useState } from "react";

import styles from "./Field.module.css";
import { Icon } from "./Icon.tsx";

/** The class of controls that stand without a field around them. */
export const controlClass = styles["input"] ?? "";

export interface FieldProps {
  label: string;
  hint?: ReactNode;
  /** What is wrong with it. */
  wrong?: ReactNode;
  /** Renders the control itself, with what ties it to its label. */
  children: (tie: {
    id: string;
    "aria-describedby"?: string;
    "aria-invalid"?: true;
    className: string;
  }) => ReactNode;
}

/** A control with its label, a hint, and what is wrong with it. */
export function Field({ label, hint, wrong, children }: FieldProps) {
  const id = useId();
  const about = `${id}-about`;
  const isDescribed = hint !== undefined || wrong !== undefined;
  return (
    <div className={styles["field"]}>
      <label className={styles["label"]} htmlFor={id}>
        {label}
      </label>
      {children({
        id,
        className: styles["input"] ?? "",
        ...(isDescribed ? { "aria-describedby": about } : {}),
        ...(wrong === undefined ? {} : { "aria-invalid": true as const }),
      })}
      {isDescribed ? (
        <span id={about} className={wrong === undefined ? styles["hint"] : styles["wrong"]}>
          {wrong ?? hint}
        </span>
      ) : null}
    </div>
  );
}

/** How long to wait after the last key before asking, in milliseconds. */
const pauseMs = 150;

interface SearchFieldProps {
  label: string;
  value: string;
  /** Called a moment after the last key. */
  onSearch: (text: string) => void;
  /** Called at each key, by those who have what is searched. */
  onType?: ((text: string) => void) | undefined;
}

/** A field that filters while it is typed in: Enter sends nothing, also not the form that it stands in. */
export function SearchField({ label, value, onSearch, onType }: SearchFieldProps) {
  const [text, setText] = useState(value);
  const [known, setKnown] = useState(value);
  const [sent, setSent] = useState(value);
  if (value !== known) {
    setKnown(value);
    // What was typed since it was sent stays.
    if (value !== sent) {
      setSent(value);
      setText(value);
    }
  }
  useEffect(() => {
    if (text === value) return undefined;
    const timer = setTimeout(() => {
      setSent(text);
      onSearch(text);
    }, pauseMs);
    return () => clearTimeout(timer);
  }, [text, value, onSearch]);
  return (
    <div className={styles["search"]}>
      <Icon name="search" size={14} />
      <input
        type="search"
        className={styles["input"]}
        aria-label={label}
        placeholder={label}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          onType?.(event.target.value);
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter") event.preventDefault();
        }}
      />
    </div>
  );
}

function optionsOf(choices: readonly (readonly [string | number, string])[]) {
  return choices.map(([value, words]) => (
    <option key={value} value={value}>
      {words}
    </option>
  ));
}

interface ChoiceProps<Value extends string> {
  label: string;
  /** What no choice means; all of them unless said otherwise. */
  all?: string;
  value: Value | undefined;
  /** Value and words of each choice. */
  choices: readonly (readonly [Value, string])[];
  onChoose: (value: Value | undefined) => void;
}

/** Chooses one of few, or all of them. */
export function Choice<Value extends string>({ label, all, value, choices, onChoose }: ChoiceProps<Value>) {
  return (
    <select
      className={`${styles["input"]} ${styles["select"]}`}
      aria-label={label}
      data-on={value !== undefined}
      value={value ?? ""}
      onChange={(event) => onChoose(choices.find(([choice]) => choice === event.target.value)?.[0])}
    >
      <option value="">{all ?? `${label}: all`}</option>
      {optionsOf(choices)}
    </select>
  );
}

interface ChoiceFieldProps<Value> extends Omit<FieldProps, "children"> {
  /** Each with the words that say it. */
  choices: readonly (readonly [Value, string])[];
  chosen: Value;
  onChoose: (value: Value) => void;
}

/** Asks for one of some values, in a form. */
export function ChoiceField<Value extends string | number>({
  choices,
  chosen,
  onChoose,
  ...field
}: ChoiceFieldProps<Value>) {
  return (
    <Field {...field}>
      {(tie) => (
        <select
          {...tie}
          value={chosen}
          onChange={({ target }) => {
            const found = choices.find(([value]) => String(value) === target.value);
            if (found !== undefined) onChoose(found[0]);
          }}
        >
          {optionsOf(choices)}
        </select>
      )}
    </Field>
  );
}

/** A switch with its words beside it. */
export function Check({ children, ...rest }: Omit<ComponentProps<"input">, "type">) {
  return (
    <label className={styles["check"]}>
      <input type="checkbox" {...rest} />
      {children}
    </label>
  );
}

/** Stands above a list and holds what filters it. */
export function FilterBar({ children }: { children: ReactNode }) {
  return (
    <search className={styles["bar"]} data-no-print>
      {children}
    </search>
  );
}
