import { useMemo } from "react";

import { changeOf, type RowSort, verdictOfRow } from "../../domain/snapshot-rows.ts";
import { duration } from "../../domain/times.ts";
import { Commit } from "../../parts/Commit.tsx";
import { Fingerprint } from "../../parts/Fingerprint.tsx";
import { PageLink } from "../../parts/PageLink.tsx";
import { ArtifactLink, FlowLink } from "../../parts/ProcessLinks.tsx";
import { VerdictMark } from "../../parts/Verdict.tsx";
import { buttonClass } from "../../ui/Button.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { Quiet, Tag } from "../../ui/Layout.tsx";
import type { Column } from "../../ui/Table.tsx";
import { Time } from "../../ui/Time.tsx";
import styles from "./Environments.module.css";
import type { SnapshotSearch } from "./queries.ts";
import { type ArtifactRow, keyOfRow } from "./rows.ts";

function Name({ org, row }: { org: string; row: ArtifactRow }) {
  const { name, fingerprint, html_url } = row;
  if (html_url === null && fingerprint !== "")
    return <ArtifactLink org={org} flow="" fingerprint={fingerprint} name={name} />;
  return <PageLink address={html_url}>{name}</PageLink>;
}

function NameCell({ org, row }: { org: string; row: ArtifactRow }) {
  const change = changeOf(row.annotation);
  const [reason, ...more] = row.reasons;
  return (
    <>
      <span className={styles["narrowVerdict"]}>
        <VerdictMark verdict={verdictOfRow(row)} />
      </span>
      <span className={styles["title"]}>
        <span className={styles["name"]}>
          <Name org={org} row={row} />
        </span>
        {change === undefined ? null : <Tag>{change}</Tag>}
      </span>
      <span className={styles["digest"]}>
        <Fingerprint value={row.fingerprint} />
      </span>
      {reason === undefined ? null : (
        <>
          <span
            className={styles["reason"]}
            title={row.reasons.map(({ message }) => message).join("\n")}
            data-no-print
          >
            <Quiet isSmall>
              {reason.message}
              {more.length === 0 ? "" : ` (and ${more.length} more)`}
            </Quiet>
          </span>
          <span data-print-only>
            <Quiet isSmall>{row.reasons.map(({ message }) => message).join("; ")}</Quiet>
          </span>
        </>
      )}
    </>
  );
}

/** The flow that knows it, how many others do, and the code it was made from. */
function Origin({ org, row }: { org: string; row: ArtifactRow }) {
  const { flow_name, git_commit, commit_url, details } = row;
  if (flow_name === null) return <span className={styles["unproven"]}>No flow knows it</span>;
  const others = (details?.flows.length ?? 1) - 1;
  return (
    <>
      <FlowLink org={org} flow={flow_name} />
      {others > 0 ? (
        <Quiet isSmall>
          <span data-no-print> +{others}</span>
          <span data-print-only>
            , known as well to{" "}
            {details?.flows
              .slice(1)
              .map((flow) => flow.flow_name)
              .join(", ")}
          </span>
        </Quiet>
      ) : null}
      {git_commit === null ? null : (
        <span className={styles["digest"]}>
          <Commit sha={git_commit} url={commit_url} />
        </span>
      )}
    </>
  );
}

/** Columns of what runs, and of what exited. */
function factsOf(org: string) {
  return {
    verdict: {
      key: "verdict",
      head: "Verdict",
      width: "144px",
      isOptional: true,
      cell: (row) => <VerdictMark verdict={verdictOfRow(row)} />,
    },
    name: { key: "name", head: "Artifact", width: "40%", cell: (row) => <NameCell org={org} row={row} /> },
    origin: {
      key: "origin",
      head: "Made by",
      width: "160px",
      isOptional: true,
      cell: (row) => <Origin org={org} row={row} />,
    },
    lead: {
      key: "lead",
      head: "Lead time",
      width: "88px",
      isNumber: true,
      isOptional: true,
      cell: ({ details }) =>
        details === undefined || details.commit_lead_time === null ? (
          <Quiet>–</Quiet>
        ) : (
          duration(details.commit_lead_time)
        ),
    },
    since: {
      key: "since",
      head: "Since",
      width: "92px",
      isOptional: true,
      cell: ({ started_at }) => <Time at={started_at} />,
    },
    instances: {
      key: "instances",
      head: "Instances",
      width: "94px",
      isNumber: true,
      isOptional: true,
      cell: ({ instances }) => instances,
    },
  } as const satisfies Record<string, Column<ArtifactRow>>;
}

/** Columns of what exited. */
export function exitedColumns(org: string): Column<ArtifactRow>[] {
  const { verdict, name, origin } = factsOf(org);
  return [verdict, name, origin];
}

interface ColumnOptions {
  org: string;
  search: SnapshotSearch;
  onSearch: (change: SnapshotSearch) => void;
  /** Whether the server sorts, and tells less of each. */
  isPaged: boolean;
}

function WhyButton({ row, search: { open }, onSearch }: Omit<ColumnOptions, "org"> & { row: ArtifactRow }) {
  const isOpen = open === keyOfRow(row);
  return (
    <button
      type="button"
      className={`${buttonClass("quiet")} ${styles["why"]}`}
      aria-expanded={isOpen}
      aria-label={`Why ${row.name}`}
      aria-keyshortcuts="w"
      data-no-print
      onClick={() => onSearch({ open: isOpen ? undefined : keyOfRow(row) })}
    >
      Why
      <Icon name="chevron" size={12} />
    </button>
  );
}

/** Columns of what runs, with what sorts it and what opens a row. */
export function useArtifactColumns({ org, search, onSearch, isPaged }: ColumnOptions): Column<ArtifactRow>[] {
  return useMemo(() => {
    const { sort = "verdict", direction = "asc" } = search;
    const { verdict, name, origin, lead, since, instances } = factsOf(org);
    const sorted = (column: Column<ArtifactRow>, by: RowSort): Column<ArtifactRow> => ({
      ...column,
      sort: {
        direction: sort === by ? direction : undefined,
        choose: () =>
          onSearch({
            sort: by,
            direction: sort === by && direction === "asc" ? "desc" : "asc",
            page: undefined,
          }),
      },
    });
    return [
      sorted(verdict, "verdict"),
      sorted(name, "name"),
      origin,
      ...(isPaged ? [] : [lead]),
      sorted(since, "since"),
      isPaged ? instances : sorted(instances, "instances"),
      {
        key: "why",
        head: <span className="visually-hidden">Explanation</span>,
        width: "88px",
        cell: (row) => <WhyButton row={row} search={search} onSearch={onSearch} isPaged={isPaged} />,
      },
    ];
  }, [org, search, onSearch, isPaged]);
}
