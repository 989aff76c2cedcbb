import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useMemo } from "react";

import { ApiError } from "../../api/errors.ts";
import { verdictOfSnapshot } from "../../domain/verdict.ts";
import { Loaded } from "../../parts/Loaded.tsx";
import { SnapshotStrip } from "../../parts/SnapshotStrip.tsx";
import styles from "./Environments.module.css";
import { filtersOf, type ListedSnapshot, silenceQuery, type SnapshotSearch, stripQuery } from "./queries.ts";

/** What is said of a snapshot's changes, and the filter that shows what is counted. */
interface Change {
  words: string;
  search: SnapshotSearch;
}

/** Says what runs in a snapshot, and what it changed. */
export function changesOf({
  artifact_count = 0,
  started = 0,
  exited = 0,
  changed = 0,
}: ListedSnapshot): Change[] {
  const changes: [number, string, SnapshotSearch][] = [
    [started, "started", { change: "started" }],
    [exited, "exited", {}],
    [changed, "changed", {}],
  ];
  return [
    { words: `${artifact_count} ${artifact_count === 1 ? "artifact" : "artifacts"}`, search: {} },
    ...changes
      .filter(([count]) => count > 0)
      .map(([count, words, search]) => ({ words: `${count} ${words}`, search })),
  ];
}

interface StripProps {
  org: string;
  env: string;
  listed: readonly ListedSnapshot[];
  selected: number | undefined;
  /** Filters of what is shown, which the one that is chosen is looked at through as well. */
  search: SnapshotSearch;
}

function Strip({ org, env, listed, selected, search }: StripProps) {
  const { data: silence } = useQuery(silenceQuery(org, env));
  const navigate = useNavigate();
  const snapshots = useMemo(
    () =>
      listed.map((one) => ({
        ...one,
        verdict: verdictOfSnapshot(one.compliant, one.non_compliant_count),
      })),
    [listed],
  );
  const gaps = useMemo(() => silence?.gaps ?? [], [silence]);
  const open = (index: number): void =>
    void navigate({
      to: "/$org/environments/$env/snapshots/$expression",
      params: { org, env, expression: String(index) },
      search: filtersOf(search),
    });
  return (
    <SnapshotStrip
      snapshots={snapshots}
      gaps={gaps}
      handles={[{ label: "Snapshot", index: selected ?? listed[0]?.index ?? 0, onChoose: open }]}
      describe={(index) => {
        const one = listed.find((snapshot) => snapshot.index === index);
        return one === undefined
          ? undefined
          : changesOf(one)
              .map(({ words }) => words)
              .join(", ");
      }}
    />
  );
}

const noFilters: SnapshotSearch = {};

/** The snapshots of an environment in time; choosing one opens it. @param selected the one shown; the latest unless given. */
export function EnvironmentStrip({
  org,
  env,
  selected,
  search = noFilters,
}: Pick<StripProps, "org" | "env"> & Partial<Pick<StripProps, "selected" | "search">>) {
  const query = useQuery(stripQuery(org, env));
  // What is closed or not there is said once, by the page.
  if (query.error instanceof ApiError && [401, 403, 404].includes(query.error.status)) return null;
  return (
    <Loaded query={query} waiting={<div className={styles["stripRoom"]} aria-busy="true" />}>
      {({ data }) =>
        data.length === 0 ? null : (
          <Strip org={org} env={env} listed={data} selected={selected} search={search} />
        )
      }
    </Loaded>
  );
}
