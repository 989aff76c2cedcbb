import { getRouteApi } from "@tanstack/react-router";
import type { ReactNode } from "react";

import { Empty, NoMatch } from "../../ui/Empty.tsx";
import styles from "./AuditLog.module.css";
import type { AuditSearch } from "./queries.ts";

const route = getRouteApi("/$org/audit-log");

/** Gives what changes the filters in the address, and goes back to the first page with that. */
export function useFilter(): (change: AuditSearch) => void {
  const navigate = route.useNavigate();
  return (change) => void navigate({ search: (before) => ({ ...before, ...change, page: undefined }) });
}

/** A value that, chosen, becomes a filter. */
export function Chooses({ change, children }: { change: AuditSearch; children: ReactNode }) {
  const filter = useFilter();
  return (
    <button type="button" className={styles["filter"]} title="Show only these" onClick={() => filter(change)}>
      {children}
    </button>
  );
}

/** Chooses the first and the last day. */
export function DayFilters() {
  const { from, to } = route.useSearch();
  const filter = useFilter();
  const field = (name: "from" | "to", value: string | undefined) => (
    <label className={styles["day"]}>
      {name}
      <input
        type="date"
        className={styles["date"]}
        value={value ?? ""}
        onChange={(event) => filter({ [name]: event.target.value === "" ? undefined : event.target.value })}
      />
    </label>
  );
  return (
    <>
      {field("from", from)}
      {field("to", to)}
    </>
  );
}

/** Stands for a log without entries: nothing matches, or nothing was written yet. */
export function NoEntries({ title }: { title: string }) {
  const { kind, ...filters } = route.useSearch();
  const navigate = route.useNavigate();
  if (Object.values(filters).every((value) => value === undefined))
    return <Empty title={title} text="Whatever is done will stand here, with who did it." />;
  return (
    <NoMatch
      title="No entry matches"
      text="None is as the filters say."
      onClear={() => void navigate({ search: { kind } })}
    />
  );
}
