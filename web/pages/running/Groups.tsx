import { Link } from "@tanstack/react-router";
import { useMemo } from "react";

import { groupByArtifact, type RunningGroup, type RunningVersion } from "../../domain/artifact-names.ts";
import { verdictOfArtifact } from "../../domain/verdict.ts";
import { Fingerprint } from "../../parts/Fingerprint.tsx";
import { PageLink } from "../../parts/PageLink.tsx";
import { VerdictMark } from "../../parts/Verdict.tsx";
import { Quiet } from "../../ui/Layout.tsx";
import { type Column, Table } from "../../ui/Table.tsx";
import type { Running } from "./queries.ts";
import styles from "./Running.module.css";

/** One version, and where it runs. */
function Version({ org, version }: { org: string; version: RunningVersion<Running> }) {
  const { tag, fingerprint, rows } = version;
  return (
    <li>
      <span className={styles["version"]}>
        <PageLink address={rows[0]?.html_url}>{tag === "" ? "no tag" : tag}</PageLink>
        <Fingerprint value={fingerprint} />
      </span>
      <ul className={styles["places"]}>
        {rows.map(({ environment_name: env, compliant, allow_listed, artifact_name }) => (
          <li key={`${env} ${artifact_name}`}>
            <VerdictMark verdict={verdictOfArtifact(compliant, allow_listed)} isBare />
            <Link to="/$org/environments/$env" params={{ org, env }}>
              {env}
            </Link>
          </li>
        ))}
      </ul>
    </li>
  );
}

function Drift({ group }: { group: RunningGroup<Running> }) {
  const { length } = group.versions;
  if (length > 1) return <span className={styles["drift"]}>{length} versions</span>;
  const places = group.versions[0]?.rows.length ?? 0;
  return <Quiet>{places > 1 ? "the same everywhere" : "in one place"}</Quiet>;
}

/** What runs, by artifact: its versions, and where each of them runs. More than one version is drift. */
export function Groups({
  org,
  rows,
  isOld,
}: {
  org: string;
  rows: readonly Running[] | undefined;
  isOld: boolean;
}) {
  const groups = useMemo(() => (rows === undefined ? undefined : groupByArtifact(rows)), [rows]);
  const columns: Column<RunningGroup<Running>>[] = [
    {
      key: "name",
      head: "Artifact",
      width: "34%",
      cell: (group) => (
        <>
          <span className={styles["name"]}>{group.name}</span>
          <span className={styles["narrowDrift"]}>
            <Drift group={group} />
          </span>
        </>
      ),
    },
    {
      key: "drift",
      head: "Drift",
      isOptional: true,
      width: "170px",
      cell: (group) => <Drift group={group} />,
    },
    {
      key: "versions",
      head: "Versions, and where they run",
      cell: ({ versions }) => (
        <ul className={styles["versions"]}>
          {versions.map((version) => (
            <Version key={version.fingerprint} org={org} version={version} />
          ))}
        </ul>
      ),
    },
  ];
  return (
    <Table
      label="What runs, by artifact"
      columns={columns}
      rows={groups}
      rowKey={({ name }) => name}
      isOld={isOld}
    />
  );
}
