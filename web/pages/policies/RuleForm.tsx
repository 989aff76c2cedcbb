import { type FormEvent, useState } from "react";

import { flowIs, flowTagged, nameBegins, type PolicyRule, withRule } from "../../domain/policy-rules.ts";
import { LeaveGuard } from "../../parts/LeaveGuard.tsx";
import { Button } from "../../ui/Button.tsx";
import { CodeBlock } from "../../ui/Copy.tsx";
import { Foot } from "../../ui/Dialog.tsx";
import { Check, ChoiceField, Field } from "../../ui/Field.tsx";
import { FilledDialog } from "../../ui/FilledDialog.tsx";
import { Note } from "../../ui/Note.tsx";
import { TextDiff } from "../../ui/TextDiff.tsx";
import { useFilledIn } from "../../ui/useFilledIn.ts";

const kinds = [
  ["provenance", "A flow knows the artifact"],
  ["trail-compliance", "The artifact's trail is compliant"],
  ["attestation", "The artifact has an attestation"],
  ["decision", "A control was decided on"],
] as const;

const types = [
  ["*", "any type"],
  ["generic", "generic"],
  ["junit", "junit: test results"],
  ["pull_request", "pull_request"],
  ["snyk", "snyk: vulnerabilities"],
  ["sonar", "sonar: code quality"],
  ["jira", "jira: tickets"],
  ["custom", "a type of this organization"],
] as const;

interface Filled {
  kind: (typeof kinds)[number][0];
  type: (typeof types)[number][0];
  custom: string;
  name: string;
  control: string;
  where: "all" | "artifact" | "flow" | "tag";
  value: string;
  isEnough: boolean;
}

const start: Filled = {
  kind: "provenance",
  type: "junit",
  custom: "",
  name: "",
  control: "",
  where: "all",
  value: "",
  isEnough: false,
};

/** Says what a filled form still lacks. */
function lacking({ kind, type, custom, name, control, where, value }: Filled): string | undefined {
  if (kind === "decision" && control === "") return "Name the control";
  if (kind === "attestation" && type === "custom" && custom === "") return "Name the type";
  if (kind === "attestation" && type === "*" && name === "") return "Choose a type or give a name";
  return where !== "all" && value === "" ? "Say for which" : undefined;
}

function conditionOf({ where, value }: Filled): string | undefined {
  if (where === "all") return undefined;
  if (where === "artifact") return nameBegins(value);
  return where === "flow" ? flowIs(value) : flowTagged(value);
}

function ruleOf(filled: Filled): PolicyRule {
  const { kind, type, custom, name, control, isEnough } = filled;
  const condition = conditionOf(filled);
  if (kind === "provenance" || kind === "trail-compliance") return { kind, except: condition };
  if (kind === "decision")
    return { kind: "attestation", type: "decision", for_control: control, onlyIf: condition, isEnough };
  const wanted = type === "custom" ? `custom:${custom}` : type;
  return { kind: "attestation", type: wanted, name, onlyIf: condition, isEnough };
}

const placeholders = { artifact: "registry.example/sidecar", flow: "web-ci", tag: "risk: high" } as const;

type Change = (change: Partial<Filled>) => void;

function TextField({
  label,
  value,
  placeholder,
  onChange,
}: {
  label: string;
  value: string;
  placeholder?: string;
  onChange: (value: string) => void;
}) {
  return (
    <Field label={label}>
      {(tie) => (
        <input
          {...tie}
          value={value}
          placeholder={placeholder}
          autoComplete="off"
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}

function EvidenceFields({ filled, change }: { filled: Filled; change: Change }) {
  if (filled.kind === "decision")
    return (
      <TextField
        label="Control"
        value={filled.control}
        placeholder="CC-7.1"
        onChange={(control) => change({ control })}
      />
    );
  return (
    <>
      <ChoiceField label="Type" choices={types} chosen={filled.type} onChoose={(type) => change({ type })} />
      {filled.type === "custom" ? (
        <TextField label="Name of the type" value={filled.custom} onChange={(custom) => change({ custom })} />
      ) : null}
      <TextField
        label="Name of the attestation"
        value={filled.name}
        placeholder="any"
        onChange={(name) => change({ name })}
      />
    </>
  );
}

function Conditions({ filled, change }: { filled: Filled; change: Change }) {
  const isException = filled.kind === "provenance" || filled.kind === "trail-compliance";
  const word = isException ? "Except" : "Only for";
  const choices = [
    ["all", isException ? "No exception" : "All artifacts"],
    ["artifact", `${word} artifacts whose name begins with`],
    ["flow", `${word} artifacts of the flow`],
    ["tag", `${word} artifacts of flows tagged`],
  ] as const;
  return (
    <>
      <ChoiceField
        label={isException ? "Exception" : "Where it applies"}
        choices={choices}
        chosen={filled.where}
        onChoose={(where) => change({ where })}
      />
      {filled.where === "all" ? null : (
        <TextField
          label={
            filled.where === "tag" ? "Tag, as key: value" : filled.where === "flow" ? "Flow" : "Beginning"
          }
          value={filled.value}
          placeholder={placeholders[filled.where]}
          onChange={(value) => change({ value })}
        />
      )}
    </>
  );
}

/** Writes a common rule into the text of a policy, and shows what it writes. */
export function RuleForm({
  text,
  onWrite,
  onClose,
}: {
  text: string;
  onWrite: (text: string) => void;
  onClose: () => void;
}) {
  const [filled, fill] = useState(start);
  const fields = useFilledIn();
  const change: Change = (changed) => fill((before) => ({ ...before, ...changed }));
  const lacks = lacking(filled);
  const written = lacks === undefined ? withRule(text, ruleOf(filled)) : undefined;
  const isEvidence = filled.kind === "attestation" || filled.kind === "decision";
  const send = (event: FormEvent): void => {
    event.preventDefault();
    if (written === undefined) return;
    onWrite(written);
    onClose();
  };
  return (
    <FilledDialog title="Add a rule" onClose={onClose} isWide filled={fields}>
      <form onSubmit={send} style={{ display: "grid", gap: 14 }}>
        <ChoiceField
          label="What is asked"
          choices={kinds}
          chosen={filled.kind}
          onChoose={(kind) => change({ kind })}
        />
        {isEvidence ? <EvidenceFields filled={filled} change={change} /> : null}
        <Conditions filled={filled} change={change} />
        {isEvidence ? (
          <Check checked={filled.isEnough} onChange={(event) => change({ isEnough: event.target.checked })}>
            It is enough that it is there, compliant or not
          </Check>
        ) : null}
        {written !== undefined ? (
          <TextDiff before={text} after={written} label="What it writes" />
        ) : lacks === undefined ? (
          <Note kind="warn">
            This text is written in a way that only you can add to. The rule, to put in by hand:
            <CodeBlock text={withRule("", ruleOf(filled)) ?? ""} label="rule" />
          </Note>
        ) : null}
        <Foot>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            look="primary"
            refused={lacks ?? (written === undefined ? "Put it in by hand" : undefined)}
          >
            Add the rule
          </Button>
        </Foot>
        <LeaveGuard isChanged={fields.isFilledIn} also="any" />
      </form>
    </FilledDialog>
  );
}
