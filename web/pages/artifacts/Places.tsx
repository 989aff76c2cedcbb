import { Link } from "@tanstack/react-router";

import { exactDuration } from "../../domain/times.ts";
import { Card, Fold, Quiet, Tag } from "../../ui/Layout.tsx";
import { type Column, Table } from "../../ui/Table.tsx";
import { Time } from "../../ui/Time.tsx";
import styles from "./Artifacts.module.css";
import type { Artifact } from "./queries.ts";

interface Place {
  environment: string;
  snapshot: number;
  isRunning: boolean;
}

function placesOf({ running, exited }: Artifact): Place[] {
  const read =
    (isRunning: boolean) =>
    ({ environment_name, snapshot_index }: Artifact["running"][number]): Place => ({
      environment: environment_name,
      snapshot: snapshot_index,
      isRunning,
    });
  return [...running.map(read(true)), ...exited.map(read(false))];
}

function Lead({ seconds }: { seconds: number | undefined }) {
  return seconds === undefined ? <Quiet>–</Quiet> : exactDuration(seconds);
}

function columnsOf(org: string, artifact: Artifact): Column<Place>[] {
  return [
    {
      key: "environment",
      head: "Environment",
      cell: ({ environment }) => (
        <Link to="/$org/environments/$env" params={{ org, env: environment }}>
          {environment}
        </Link>
      ),
    },
    {
      key: "state",
      head: "State",
      cell: ({ environment, snapshot, isRunning }) => (
        <span className={styles["inRow"]}>
          <Tag>{isRunning ? "runs" : "exited"}</Tag>
          <Link
            to="/$org/environments/$env/snapshots/$expression"
            params={{ org, env: environment, expression: String(snapshot) }}
          >
            #{snapshot}
          </Link>
        </span>
      ),
    },
    {
      key: "commit",
      head: "From commit",
      isOptional: true,
      cell: ({ environment }) => <Lead seconds={artifact.commit_lead_times[environment]} />,
    },
    {
      key: "build",
      head: "From build",
      isOptional: true,
      cell: ({ environment }) => <Lead seconds={artifact.build_lead_times[environment]} />,
    },
  ];
}

/** Where an artifact runs and ran, and how long it took to get there. */
export function Places({ org, artifact }: { org: string; artifact: Artifact }) {
  const places = placesOf(artifact);
  const { history } = artifact;
  return (
    <Card title="Where it runs and ran">
      {places.length === 0 ? (
        <p className={styles["quiet"]}>No environment has reported that it ran.</p>
      ) : (
        <Table
          label="Environments"
          rows={places}
          rowKey={({ environment, isRunning }) => `${environment} ${isRunning}`}
          columns={columnsOf(org, artifact)}
        />
      )}
      {history.length === 0 ? null : (
        <Fold title={`History (${history.length})`}>
          <ol className={styles["history"]}>
            {history.map(({ event, timestamp }) => (
              <li key={`${event} ${timestamp}`}>
                <Time at={timestamp} exact />
                <span>{event}</span>
              </li>
            ))}
          </ol>
        </Fold>
      )}
    </Card>
  );
}
