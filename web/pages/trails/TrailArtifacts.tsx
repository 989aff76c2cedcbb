import { Link } from "@tanstack/react-router";
import { useMemo } from "react";

import { artifactNames, type Run, runsOf } from "../../domain/trail-story.ts";
import { verdictOfText } from "../../domain/verdict.ts";
import { Fingerprint } from "../../parts/Fingerprint.tsx";
import { VerdictMark } from "../../parts/Verdict.tsx";
import { Card, Quiet } from "../../ui/Layout.tsx";
import { type Column, Table } from "../../ui/Table.tsx";
import type { Trail } from "./queries.ts";
import styles from "./Trails.module.css";

interface Artifact {
  reference: string;
  fingerprint: string | null;
  name: string | undefined;
  status: string;
  isUnasked: boolean;
  runs: readonly Run[];
}

function artifactsOf({ compliance_status, events }: Trail): Artifact[] {
  const runs = runsOf(events);
  const names = artifactNames(events);
  return Object.entries(compliance_status.artifacts_statuses).map(
    ([reference, { artifact_fingerprint, status, unexpected }]) => ({
      reference,
      fingerprint: artifact_fingerprint,
      name: artifact_fingerprint === null ? undefined : names.get(artifact_fingerprint),
      status,
      isUnasked: unexpected,
      runs: artifact_fingerprint === null ? [] : (runs.get(artifact_fingerprint) ?? []),
    }),
  );
}

function Runs({ org, runs }: { org: string; runs: readonly Run[] }) {
  if (runs.length === 0) return <Quiet>nowhere yet</Quiet>;
  return (
    <ul className={styles["runs"]}>
      {runs.map(({ environment_name: env, snapshot_index, isRunning }) => (
        <li key={env}>
          <Link
            to="/$org/environments/$env/snapshots/$expression"
            params={{ org, env, expression: String(snapshot_index) }}
          >
            {env}
          </Link>
          {isRunning ? null : <Quiet isSmall> until #{snapshot_index}</Quiet>}
        </li>
      ))}
    </ul>
  );
}

const columnsOf = (org: string, flow: string): Column<Artifact>[] => [
  {
    key: "name",
    head: "Artifact",
    cell: ({ reference, name, fingerprint, isUnasked }) => (
      <>
        {fingerprint === null ? (
          <strong>{reference}</strong>
        ) : (
          <Link to="/$org/flows/$flow/artifacts/$fingerprint" params={{ org, flow, fingerprint }}>
            <strong>{reference}</strong>
          </Link>
        )}
        {isUnasked ? <Quiet isSmall> not asked for</Quiet> : null}
        {name === undefined ? null : (
          <span className={styles["fileName"]}>
            <Quiet isSmall>{name}</Quiet>
          </span>
        )}
      </>
    ),
  },
  {
    key: "state",
    // What the trail itself lacks counts in the state that other pages show.
    head: "Own evidence",
    width: "150px",
    cell: ({ status }) => <VerdictMark verdict={verdictOfText(status)} />,
  },
  {
    key: "fingerprint",
    head: "Fingerprint",
    width: "120px",
    isOptional: true,
    cell: ({ fingerprint }) =>
      fingerprint === null ? <Quiet>–</Quiet> : <Fingerprint value={fingerprint} />,
  },
  { key: "runs", head: "Runs in", cell: ({ runs }) => <Runs org={org} runs={runs} /> },
];

/** The artifacts of a trail, and where they run. */
export function TrailArtifacts({ org, trail }: { org: string; trail: Trail }) {
  const artifacts = useMemo(() => artifactsOf(trail), [trail]);
  if (artifacts.length === 0) return null;
  return (
    <Card title="Artifacts">
      <Table
        label="Artifacts of this trail"
        columns={columnsOf(org, trail.flow.name)}
        rows={artifacts}
        rowKey={({ reference }) => reference}
      />
    </Card>
  );
}
