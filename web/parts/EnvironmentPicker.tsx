import { useQuery } from "@tanstack/react-query";
import { useId, useState } from "react";

import { ask } from "../api/queries.ts";
import { runningTypes } from "../domain/environment-types.ts";
import { Check, SearchField } from "../ui/Field.tsx";
import styles from "./EnvironmentPicker.module.css";
import { FailedToRead } from "./Loaded.tsx";

/** How many environments are looked at for those that are offered: as many as are read at a time. */
const lookedAt = 50;

/** Asks for environments to choose from, by part of their name. */
function environmentChoicesQuery(org: string, name: string, isReported: boolean) {
  const type = isReported ? [...runningTypes] : undefined;
  return ask("GET /environments/{org}", {
    params: { org },
    query: { name: name === "" ? undefined : name, type, per_page: lookedAt, page: 1 },
  });
}

interface EnvironmentPickerProps {
  org: string;
  label: string;
  chosen: readonly string[];
  onChange: (chosen: string[]) => void;
  /** Those that make no sense to choose, and why: "attached already". */
  without?: { names: readonly string[]; are: string };
  hint?: string;
  /** Whether only those are offered that are reported on, as members of logical ones are. */
  isReported?: boolean;
}

const nothing = { names: [], are: "" };

interface Found {
  name: string;
  /** How many environments were looked at, and how many have that in their name. */
  looked: number;
  total: number;
  /** Why those that were looked at are not offered. */
  are: string;
}

/** Says why none is offered. */
function whyNone({ name, looked, total, are }: Found): string {
  if (total === 0) return name === "" ? "There are no environments." : "None has this in its name.";
  if (total > looked) return `The first ${looked} are ${are}: find others by name.`;
  return name === "" ? `All are ${are}.` : `All that have this in their name are ${are}.`;
}

/** Chooses environments out of however many there are: those chosen stay, others are found by name. */
export function EnvironmentPicker({
  org,
  label,
  chosen,
  onChange,
  without = nothing,
  hint,
  isReported = false,
}: EnvironmentPickerProps) {
  const [name, search] = useState("");
  const id = useId();
  const query = useQuery(environmentChoicesQuery(org, name, isReported));
  const { data } = query;
  const found = data === undefined || Array.isArray(data) ? [] : data.environments.map((one) => one.name);
  const total = data === undefined || Array.isArray(data) ? 0 : data.total_count;
  const offered = found.filter((one) => !without.names.includes(one));
  const choices = [...chosen, ...offered.filter((one) => !chosen.includes(one))];
  const toggle = (one: string): void =>
    onChange(chosen.includes(one) ? chosen.filter((other) => other !== one) : [...chosen, one]);
  return (
    <fieldset className={styles["picker"]} aria-labelledby={id}>
      <span id={id} className={styles["title"]}>
        {label}
        {chosen.length === 0 ? "" : `: ${chosen.length} chosen`}
      </span>
      <SearchField label="Find environments by name" value={name} onSearch={search} />
      {query.error === null ? (
        <div className={styles["list"]} aria-busy={data === undefined}>
          {choices.map((one) => (
            <Check key={one} checked={chosen.includes(one)} onChange={() => toggle(one)}>
              {one}
            </Check>
          ))}
          {data !== undefined && choices.length === 0 ? (
            <p>{whyNone({ name, looked: found.length, total, are: without.are })}</p>
          ) : null}
        </div>
      ) : (
        <FailedToRead error={query.error} retry={() => void query.refetch()} />
      )}
      <span className={styles["hint"]}>
        {offered.length > 0 && total > found.length ? "Not all are offered: find others by name. " : ""}
        {hint}
      </span>
    </fieldset>
  );
}
