import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { commandPlace } from "../../api/place.ts";
import { firstSteps, type Step } from "../../domain/first-steps.ts";
import { Commands } from "../../parts/Commands.tsx";
import { FailedToRead } from "../../parts/Loaded.tsx";
import { MakeLink } from "../../parts/MakeLink.tsx";
import { OrByCommand } from "../../parts/NewThing.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { useNow } from "../../ui/Time.tsx";
import { environmentsQuery, flowsQuery, knownOf, trailsQuery } from "./queries.ts";
import styles from "./FirstSteps.module.css";

interface StepLineProps {
  org: string;
  step: Step;
  number: number;
  isOpen: boolean;
  onToggle: () => void;
}

function StepLine({ org, step, number, isOpen, onToggle }: StepLineProps) {
  const { key, title, text, isDone, commands, page } = step;
  return (
    <li className={styles["step"]} data-done={isDone} data-open={isOpen}>
      <button type="button" aria-expanded={isOpen} aria-controls={`step-${key}`} onClick={onToggle}>
        <span className={styles["sign"]}>{isDone ? <Icon name="check" size={14} /> : number}</span>
        <span className={styles["words"]}>
          <strong>{title}</strong>
          <span>{text}</span>
        </span>
        {isDone ? <span className={styles["done"]}>Done</span> : null}
        <Icon name={isOpen ? "up" : "down"} size={14} />
      </button>
      <div id={`step-${key}`} hidden={!isOpen} className={styles["commands"]}>
        {page === undefined || isDone ? null : (
          <OrByCommand>
            <MakeLink org={org} page={page} />
          </OrByCommand>
        )}
        {commands.map((command, at) => (
          <Commands
            key={command.curl}
            command={command}
            label={`command: ${title.toLowerCase()}${commands.length > 1 ? ` (${at + 1} of ${commands.length})` : ""}`}
          />
        ))}
      </div>
    </li>
  );
}

/** What is to be done for a first verdict, with the commands that do it. Each is ticked when it has happened. */
export function FirstSteps({ org }: { org: string }) {
  const flows = useQuery(flowsQuery(org));
  const trails = useQuery(trailsQuery(org));
  const environments = useQuery(environmentsQuery(org));
  const now = useNow(3_600_000);
  const [chosen, choose] = useState<string | null>();
  const failed = [flows, trails, environments].find(
    ({ error, data }) => error !== null && data === undefined,
  );
  if (failed?.error) return <FailedToRead error={failed.error} retry={() => void failed.refetch()} />;
  if (flows.data === undefined || trails.data === undefined || environments.data === undefined)
    return <div className={styles["room"]} aria-busy="true" />;
  const known = knownOf(
    Array.isArray(flows.data) ? undefined : flows.data,
    trails.data,
    Array.isArray(environments.data) ? undefined : environments.data,
  );
  const steps = firstSteps(commandPlace(org), known, now);
  const next = steps.find(({ isDone }) => !isDone)?.key;
  const open = chosen === undefined ? next : chosen;
  const done = steps.filter(({ isDone }) => isDone).length;
  return (
    <>
      <p className={styles["lead"]}>
        {done === steps.length
          ? "All done: what runs is judged from now on."
          : `${done} of ${steps.length} steps done. The commands take the key from $WAYBILL_KEY; each step is ticked when it has happened.`}
      </p>
      <ol className={styles["steps"]}>
        {steps.map((step, at) => (
          <StepLine
            key={step.key}
            org={org}
            step={step}
            number={at + 1}
            isOpen={step.key === open}
            onToggle={() => choose(step.key === open ? null : step.key)}
          />
        ))}
      </ol>
    </>
  );
}
