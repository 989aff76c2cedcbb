import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";

import { Button } from "../../ui/Button.tsx";
import { controlClass } from "../../ui/Field.tsx";
import styles from "./Environments.module.css";
import { filtersOf, type SnapshotSearch } from "./queries.ts";

/** Writes a moment as the API names snapshots by it, in UTC. @param local as a field for date and time gives it. */
function momentExpression(local: string): string | undefined {
  const at = new Date(local);
  return Number.isNaN(at.getTime()) ? undefined : `@{${at.toISOString().slice(0, 19)}}`;
}

interface MomentFieldProps {
  org: string;
  env: string;
  /** Filters of what is shown, which what ran then is looked at through as well. */
  search: SnapshotSearch;
}

/** Asks what ran in an environment at a moment, in the reader's own zone. */
export function MomentField({ org, env, search }: MomentFieldProps) {
  const [local, setLocal] = useState("");
  const navigate = useNavigate();
  const go = (event: FormEvent): void => {
    event.preventDefault();
    const expression = momentExpression(local);
    if (expression !== undefined)
      void navigate({
        to: "/$org/environments/$env/snapshots/$expression",
        params: { org, env, expression },
        search: filtersOf(search),
      });
  };
  return (
    <form className={styles["moment"]} onSubmit={go}>
      <input
        type="datetime-local"
        step="1"
        required
        className={controlClass}
        aria-label="What ran here at"
        title="What ran here at this moment"
        value={local}
        onChange={(event) => setLocal(event.target.value)}
      />
      <Button type="submit" icon="clock">
        What ran then
      </Button>
    </form>
  );
}
