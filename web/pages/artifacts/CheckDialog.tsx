import { useQuery } from "@tanstack/react-query";
import { useEffect, useId, useState } from "react";

import type { AnswerOf } from "../../api/contract.ts";
import { ruleWords } from "../../domain/requirements.ts";
import { shortWords } from "../../domain/provenance.ts";
import { verdictOfFlag, verdictOfText } from "../../domain/verdict.ts";
import { Loaded } from "../../parts/Loaded.tsx";
import { PageLink } from "../../parts/PageLink.tsx";
import { VerdictMark } from "../../parts/Verdict.tsx";
import { environmentNamesQuery, policiesQuery } from "../../parts/queries.ts";
import { Dialog } from "../../ui/Dialog.tsx";
import { Check, Field } from "../../ui/Field.tsx";
import { Stack } from "../../ui/Layout.tsx";
import { Note } from "../../ui/Note.tsx";
import { Time } from "../../ui/Time.tsx";
import styles from "./Artifacts.module.css";
import { type ArtifactSearch, assertQuery } from "./queries.ts";

type Assert = AnswerOf<"GET /asserts/{org}/fingerprint/{fingerprint}">;
type Evaluation = NonNullable<Assert["policy_evaluations"]>[number];
type Chosen = Pick<ArtifactSearch, "environment" | "policy">;

interface ChooseProps {
  org: string;
  chosen: Chosen;
  onChoose: (chosen: Chosen) => void;
}

/** Asks for the name of an environment, and suggests those that have it in theirs: the first of them, so that what is entered counts, too. */
function ChooseEnvironment({ org, chosen, onChoose }: ChooseProps) {
  const list = useId();
  const [name, setName] = useState(chosen.environment ?? "");
  const { data } = useQuery(environmentNamesQuery(org, name));
  const environments = data === undefined || Array.isArray(data) ? [] : data.environments;
  const isKnown = environments.some((one) => one.name === name);
  useEffect(() => {
    if (isKnown && name !== chosen.environment) onChoose({ environment: name, policy: undefined });
  }, [isKnown, name, chosen.environment, onChoose]);
  const enter = (): void => {
    if (name !== "" && name !== chosen.environment) onChoose({ environment: name, policy: undefined });
  };
  return (
    <Field
      label="Environment"
      hint="By the policies attached to it; without any, by the flows of the artifact."
    >
      {(tie) => (
        <>
          <input
            {...tie}
            type="text"
            list={list}
            autoComplete="off"
            spellCheck={false}
            value={name}
            onChange={(event) => setName(event.target.value)}
            onBlur={enter}
            onKeyDown={({ key }) => {
              if (key === "Enter") enter();
            }}
          />
          <datalist id={list}>
            {environments.map((one) => (
              <option key={one.name} value={one.name}>
                {one.name}
              </option>
            ))}
          </datalist>
        </>
      )}
    </Field>
  );
}

/** By so many policies an artifact is judged unasked. */
const mostAtOnce = 20;

/** Gives the policies to judge by: those chosen, else all; undefined while it is not known which, and when there are too many. */
function useJudging(org: string, policy: Chosen["policy"]): string[] | undefined {
  const { data = [] } = useQuery(policiesQuery(org));
  if (policy !== undefined) return policy;
  return data.length === 0 || data.length > mostAtOnce ? undefined : data.map(({ name }) => name);
}

function ChoosePolicies({ org, chosen, onChoose }: ChooseProps) {
  const query = useQuery(policiesQuery(org));
  const names = chosen.policy ?? [];
  return (
    <fieldset>
      <legend className="visually-hidden">Policies</legend>
      <Loaded query={query}>
        {(policies) =>
          policies.length === 0 ? (
            <p className={styles["quiet"]}>This organization has no policies.</p>
          ) : (
            <>
              <div className={styles["policies"]}>
                {policies.map(({ name }) => (
                  <Check
                    key={name}
                    checked={names.includes(name)}
                    onChange={(event) => {
                      const rest = names.filter((one) => one !== name);
                      const next = event.target.checked ? [...rest, name] : rest;
                      onChoose({ environment: undefined, policy: next.length === 0 ? undefined : next });
                    }}
                  >
                    {name}
                  </Check>
                ))}
              </div>
              {names.length > 0 ? null : (
                <p className={styles["quiet"]}>
                  {policies.length > mostAtOnce
                    ? `There are ${policies.length} policies: choose by which.`
                    : "None chosen: by each of them."}
                </p>
              )}
            </>
          )
        }
      </Loaded>
    </fieldset>
  );
}

const outcomeWords = { true: "Met", false: "Not met", null: "Does not apply" } as const;

function PolicyVerdict({ evaluation }: { evaluation: Evaluation }) {
  const { policy_name, policy_version, status, rule_evaluations } = evaluation;
  return (
    <section className={styles["policy"]} aria-label={policy_name}>
      <h4>
        {policy_name} version {policy_version}
        <VerdictMark verdict={verdictOfText(status)} />
      </h4>
      <ul>
        {rule_evaluations.map(({ rule, satisfied, resolutions }) => (
          <li key={JSON.stringify(rule)}>
            <VerdictMark verdict={verdictOfFlag(satisfied)} words={outcomeWords[`${satisfied}`]} />
            <span>
              {ruleWords(rule)}
              {satisfied === false && resolutions.some(({ type }) => type.startsWith("missing"))
                ? ": missing"
                : ""}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function FlowVerdicts({ flows }: { flows: Assert["flows"] }) {
  return (
    <section className={styles["policy"]} aria-label="By its flows">
      <h4>By what its flows ask for</h4>
      <ul>
        {flows.map(({ flow, trail, compliance_status, compliant, html_url }) => (
          <li key={flow}>
            <VerdictMark
              verdict={
                compliance_status === null
                  ? verdictOfFlag(compliant)
                  : verdictOfText(compliance_status.status)
              }
            />
            <PageLink address={html_url}>
              {flow}
              {trail === null ? "" : ` / ${shortWords(trail)}`}
            </PageLink>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Verdict({ answer, isByAll }: { answer: Assert; isByAll: boolean }) {
  const { compliant, scope, environment, policy_evaluations, allow_listing, flows } = answer;
  const policies = isByAll ? "where all policies apply" : "by these policies";
  const place = environment === null ? policies : `in ${environment}`;
  return (
    <div className={styles["verdicts"]} aria-live="polite">
      <p className={styles["summary"]}>
        <VerdictMark verdict={allow_listing === null ? verdictOfFlag(compliant) : "exempt"} isPill />
        <strong>
          It {compliant ? "may" : "may not"} run {scope === "flow" ? "as far as its flows say" : place}
        </strong>
      </p>
      {allow_listing === null ? null : (
        <Note>
          It is on the allow-list since <Time at={allow_listing.timestamp} />: {allow_listing.description}
        </Note>
      )}
      {(policy_evaluations ?? []).map((evaluation) => (
        <PolicyVerdict key={evaluation.policy_name} evaluation={evaluation} />
      ))}
      {scope === "flow" ? <FlowVerdicts flows={flows} /> : null}
    </div>
  );
}

interface CheckDialogProps extends ChooseProps {
  fingerprint: string;
  onClose: () => void;
}

const kinds = [
  ["policies", "Policies"],
  ["environment", "An environment"],
  ["flows", "Its flows"],
] as const;

/** Tells before a deployment whether an artifact may run: in an environment, by policies, or by what its flows ask for. */
export function CheckDialog({ org, fingerprint, chosen, onChoose, onClose }: CheckDialogProps) {
  const name = useId();
  const [kind, setKind] = useState<(typeof kinds)[number][0]>(
    chosen.environment === undefined ? "policies" : "environment",
  );
  const policy = useJudging(org, chosen.policy);
  const by = {
    policies: { policy, environment: undefined },
    environment: { policy: undefined, environment: chosen.environment },
    flows: { policy: undefined, environment: undefined },
  }[kind];
  const isAsked = kind === "flows" || by.environment !== undefined || by.policy !== undefined;
  const query = useQuery({ ...assertQuery(org, fingerprint, by), enabled: isAsked });
  return (
    <Dialog title="May this artifact run?" onClose={onClose} isWide>
      <Stack>
        <fieldset className={styles["kinds"]}>
          <legend className="visually-hidden">Check against</legend>
          {kinds.map(([value, words]) => (
            <label key={value} className={styles["inRow"]}>
              <input
                type="radio"
                name={name}
                checked={kind === value}
                onChange={() => {
                  setKind(value);
                  onChoose({ environment: undefined, policy: undefined });
                }}
              />
              {words}
            </label>
          ))}
        </fieldset>
        {kind === "environment" ? <ChooseEnvironment org={org} chosen={chosen} onChoose={onChoose} /> : null}
        {kind === "policies" ? <ChoosePolicies org={org} chosen={chosen} onChoose={onChoose} /> : null}
        {isAsked ? (
          <Loaded query={query} waiting={<div className={styles["waiting"]} aria-busy="true" />}>
            {(answer) => (
              <Verdict answer={answer} isByAll={kind === "policies" && chosen.policy === undefined} />
            )}
          </Loaded>
        ) : null}
      </Stack>
    </Dialog>
  );
}
