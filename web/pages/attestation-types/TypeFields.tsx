import { type ReactNode, useId } from "react";

import { type DraftMistakes, nextKey, type TypeDraft } from "../../domain/type-draft.ts";
import { Button } from "../../ui/Button.tsx";
import { CodeEditor } from "../../ui/CodeEditor.tsx";
import { controlClass } from "../../ui/Field.tsx";
import { Card, Quiet } from "../../ui/Layout.tsx";
import styles from "./Types.module.css";

/** What each part of a draft is given. */
export interface PartProps {
  draft: TypeDraft;
  mistakes: DraftMistakes;
  onChange: (change: Partial<TypeDraft>) => void;
}

interface CodeFieldProps {
  label: string;
  value: string;
  placeholder: string;
  wrong: string | undefined;
  onChange: (text: string) => void;
}

/** A line of jq, with what is wrong with it below. */
function CodeField({ label, value, placeholder, wrong, onChange }: CodeFieldProps) {
  const about = useId();
  return (
    <div className={styles["codeField"]}>
      <input
        className={`${controlClass} ${styles["code"]}`}
        aria-label={label}
        aria-invalid={wrong === undefined ? undefined : true}
        aria-describedby={wrong === undefined ? undefined : about}
        spellCheck={false}
        autoComplete="off"
        placeholder={placeholder}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
      {wrong === undefined ? null : (
        <span id={about} className={styles["reason"]}>
          {wrong}
        </span>
      )}
    </div>
  );
}

function Lines({ isEmpty, none, children }: { isEmpty: boolean; none: string; children: ReactNode }) {
  return isEmpty ? <Quiet>{none}</Quiet> : <ol className={styles["lines"]}>{children}</ol>;
}

/** The rules of a type, one a line. */
export function RulesField({ draft: { rules, schema }, mistakes, onChange }: PartProps) {
  const without = schema.trim() === "" ? "None: any data comply." : "None: what fits the schema complies.";
  return (
    <Card
      title="Rules"
      aside={
        <Button
          icon="plus"
          onClick={() => onChange({ rules: [...rules, { key: nextKey(rules), text: "" }] })}
        >
          Add a rule
        </Button>
      }
    >
      <p className={styles["explained"]}>In jq. Data comply when each rule yields true.</p>
      <Lines isEmpty={rules.length === 0} none={without}>
        {rules.map(({ key, text }, index) => (
          <li key={key}>
            <CodeField
              label={`Rule ${index + 1}`}
              value={text}
              placeholder=".lines >= 80"
              wrong={mistakes.rules.get(key)}
              onChange={(written) =>
                onChange({ rules: rules.map((rule) => (rule.key === key ? { key, text: written } : rule)) })
              }
            />
            <Button
              look="quiet"
              icon="trash"
              aria-label={`Remove rule ${index + 1}`}
              onClick={() => onChange({ rules: rules.filter((rule) => rule.key !== key) })}
            />
          </li>
        ))}
      </Lines>
    </Card>
  );
}

/** What is shown of data: names, each with the jq that finds its value. */
export function SummaryField({ draft: { summary }, mistakes, onChange }: PartProps) {
  const change = (key: number, part: { name?: string; expression?: string }): void =>
    onChange({ summary: summary.map((line) => (line.key === key ? { ...line, ...part } : line)) });
  return (
    <Card
      title="Summary"
      aside={
        <Button
          icon="plus"
          onClick={() =>
            onChange({ summary: [...summary, { key: nextKey(summary), name: "", expression: "" }] })
          }
        >
          Add a line
        </Button>
      }
    >
      <p className={styles["explained"]}>What is shown of an attestation: a name, and in jq its value.</p>
      <Lines isEmpty={summary.length === 0} none="None: the data are shown as they are.">
        {summary.map(({ key, name, expression }, index) => (
          <li key={key} className={styles["pair"]}>
            <input
              className={controlClass}
              aria-label={`Name ${index + 1}`}
              autoComplete="off"
              placeholder="Lines"
              value={name}
              onChange={(event) => change(key, { name: event.target.value })}
            />
            <CodeField
              label={`Expression ${index + 1}`}
              value={expression}
              placeholder=".lines"
              wrong={mistakes.summary.get(key)}
              onChange={(written) => change(key, { expression: written })}
            />
            <Button
              look="quiet"
              icon="trash"
              aria-label={`Remove line ${index + 1}`}
              onClick={() => onChange({ summary: summary.filter((line) => line.key !== key) })}
            />
          </li>
        ))}
      </Lines>
    </Card>
  );
}

/** The JSON Schema of a type, with its mistakes at their places. */
export function SchemaField({ draft: { schema }, mistakes, onChange }: PartProps) {
  const id = useId();
  return (
    <Card title="Schema">
      <p className={styles["explained"]} id={id}>
        JSON Schema, or nothing. Data that do not fit it are refused.
      </p>
      <div className={styles["schema"]}>
        <CodeEditor
          label="JSON Schema"
          text={schema}
          onChange={(text) => onChange({ schema: text })}
          problems={mistakes.schema}
          describedBy={id}
        />
      </div>
      {mistakes.schema.length === 0 ? null : (
        <ul className={styles["mistakes"]} aria-label="Mistakes in the schema">
          {mistakes.schema.map(({ line, column, message, part }) => (
            <li key={`${line} ${column} ${part} ${message}`} className={styles["reason"]}>
              line {line}:{column} {message}
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}
