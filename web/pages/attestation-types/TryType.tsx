import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";

import { useRefusal } from "../../api/account.ts";
import { call } from "../../api/client.ts";
import { withMistakes } from "../../api/errors.ts";
import { readJson, shownValue } from "../../domain/json-text.ts";
import type { GivenType } from "../../domain/type-draft.ts";
import { verdictOfFlag } from "../../domain/verdict.ts";
import { VerdictMark } from "../../parts/Verdict.tsx";
import { Button } from "../../ui/Button.tsx";
import { Field } from "../../ui/Field.tsx";
import { ErrorNote } from "../../ui/ErrorNote.tsx";
import { Card, Facts, Quiet } from "../../ui/Layout.tsx";
import type { Trial } from "./queries.ts";
import styles from "./Types.module.css";

function SchemaErrors({ errors }: { errors: Trial["schema_errors"] }) {
  if (errors.length === 0) return null;
  return (
    <>
      <h3>Where the data do not fit the schema</h3>
      <ul className={styles["rules"]}>
        {errors.map(({ path, message }) => (
          <li key={`${path} ${message}`}>
            <code>{path === "" ? "the whole" : path}</code>
            <span>{message}</span>
          </li>
        ))}
      </ul>
      <Quiet isSmall>Such data would be refused, so no rule was tried.</Quiet>
    </>
  );
}

function RuleResults({ results }: { results: Trial["rule_results"] }) {
  if (results.length === 0) return null;
  return (
    <>
      <h3>Rules</h3>
      <ul className={styles["rules"]}>
        {results.map(({ rule, passed, error }, index) => (
          // oxlint-disable-next-line react/no-array-index-key -- rules may be equal and never move
          <li key={index}>
            <VerdictMark verdict={verdictOfFlag(passed)} words={passed ? "Holds" : "Fails"} />
            <span>
              <code>{rule}</code>
              {error === undefined ? null : <div className={styles["reason"]}>{error}</div>}
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}

function Value({ value, error }: { value: unknown; error: string | undefined }) {
  return error === undefined ? shownValue(value) : <span className={styles["reason"]}>{error}</span>;
}

function Summary({ summary: { groups, incomplete } }: { summary: Trial["summary"] }) {
  if (groups.every((group) => group.length === 0)) return null;
  return (
    <>
      <h3>Summary</h3>
      {groups.map((group, index) => (
        <Facts
          // oxlint-disable-next-line react/no-array-index-key -- groups have no names and never move
          key={index}
          facts={group.map(({ name, value, error }) => [
            name,
            <Value key={name} value={value} error={error} />,
          ])}
        />
      ))}
      {incomplete === null ? null : <Quiet isSmall>{incomplete}</Quiet>}
    </>
  );
}

function Outcome({ trial, isOld }: { trial: Trial; isOld: boolean }) {
  return (
    <div className={styles["outcome"]} role="status" data-old={isOld}>
      {isOld ? <Quiet isSmall>Of an earlier definition. Try again.</Quiet> : null}
      <VerdictMark verdict={verdictOfFlag(trial.is_compliant)} isPill />
      <SchemaErrors errors={trial.schema_errors} />
      <RuleResults results={trial.rule_results} />
      <Summary summary={trial.summary} />
    </div>
  );
}

const isSameDefinition = (a: GivenType, b: GivenType): boolean =>
  JSON.stringify([a.schema, a.rules, a.summary]) === JSON.stringify([b.schema, b.rules, b.summary]);

interface TryTypeProps {
  org: string;
  definition: GivenType;
  /** Why it cannot be tried as it stands. */
  lacking?: string | undefined;
}

/** Tries a definition on data, without storing anything. */
export function TryType({ org, definition, lacking }: TryTypeProps) {
  const [text, write] = useState("{\n  \n}");
  const [wrong, setWrong] = useState<string>();
  const mayNotTry = useRefusal(org, "POST /custom-attestation-types/{org}/try");
  const trial = useMutation({
    mutationFn: (body: GivenType & { payload: unknown }) =>
      call("POST /custom-attestation-types/{org}/try", { params: { org }, body }),
  });
  const refused = mayNotTry ?? lacking ?? (trial.isPending ? "Under way" : undefined);
  const send = (event: FormEvent): void => {
    event.preventDefault();
    const read = readJson(text);
    setWrong("wrong" in read ? read.wrong : undefined);
    if ("value" in read && refused === undefined) trial.mutate({ ...definition, payload: read.value });
  };
  const tried = trial.variables;
  const isOld = tried !== undefined && !isSameDefinition(tried, definition);
  return (
    <Card title="Try it">
      <form onSubmit={send} className={styles["form"]}>
        <Field label="Data, as JSON" hint="As they would be attested. Nothing is stored." wrong={wrong}>
          {(tie) => (
            <textarea
              {...tie}
              className={`${tie.className} ${styles["payload"]}`}
              spellCheck={false}
              value={text}
              onChange={(event) => write(event.target.value)}
            />
          )}
        </Field>
        <div>
          <Button type="submit" look="primary" refused={refused}>
            Try it
          </Button>
        </div>
        {trial.error === null ? null : <ErrorNote failure={withMistakes(trial.error, true)} />}
        {trial.data === undefined ? null : <Outcome trial={trial.data} isOld={isOld} />}
      </form>
    </Card>
  );
}
