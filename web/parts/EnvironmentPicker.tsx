import { useQuery } from "@tanstack/react-query";
import { useId, useState } from "react";

import { ask } from "../api/queries.ts";
import { Check, SearchField } from "../ui/Field.tsx";
import styles from "./EnvironmentPicker.module.css";
import { FailedToRead } from "./Loaded.tsx";

/** How many environments are offered at a time. */
const offered = 30;

/** Asks for environments to choose from, by part of their name. */
function environmentChoicesQuery(org: string, name: string) {
  return ask("GET /environments/{org}", {
    params: { org },
    query: { name: name === "" ? undefined : name, per_page: offered, page: 1 },
  });
}

interface EnvironmentPickerProps {
  org: string;
  label: string;
  chosen: readonly string[];
  onChange: (chosen: string[]) => void;
  /** Those that make no sense to choose. */
  without?: readonly string[];
  hint?: string;
}

const nothing: readonly string[] = [];

/** Chooses environments out of however many there are: those chosen stay, others are found by name. */
export function EnvironmentPicker({
  org,
  label,
  chosen,
  onChange,
  without = nothing,
  hint,
}: EnvironmentPickerProps) {
  const [name, search] = useState("");
  const id = useId();
  const query = useQuery(environmentChoicesQuery(org, name));
  const { data } = query;
  const found = data === undefined || Array.isArray(data) ? [] : data.environments.map((one) => one.name);
  const total = data === undefined || Array.isArray(data) ? undefined : data.total_count;
  const choices = [...chosen, ...found.filter((one) => !chosen.includes(one) && !without.includes(one))];
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
          {data !== undefined && choices.length === 0 ? <p>None has this in its name.</p> : null}
        </div>
      ) : (
        <FailedToRead error={query.error} retry={() => void query.refetch()} />
      )}
      <span className={styles["hint"]}>
        {total !== undefined && total > offered ? `${offered} of ${total} are offered. ` : ""}
        {hint}
      </span>
    </fieldset>
  );
}
