import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import { verdictOfText } from "../../domain/verdict.ts";
import { Loaded } from "../../parts/Loaded.tsx";
import { ArtifactLink, CommitLink } from "../../parts/ProcessLinks.tsx";
import { VerdictMark } from "../../parts/Verdict.tsx";
import { Empty } from "../../ui/Empty.tsx";
import { Fingerprint } from "../../parts/Fingerprint.tsx";
import { type Column, Table } from "../../ui/Table.tsx";
import { Time } from "../../ui/Time.tsx";
import type { Live } from "./queries.ts";
import { liveQuery } from "./tab-queries.ts";
import type { RepoPartProps } from "./RepoBuilds.tsx";
import styles from "./Repos.module.css";

type Artifact = Live["_embedded"]["artifacts"][number];

interface Running {
  entry: Live["live_artifacts"][number];
  artifact: Artifact | undefined;
  environment: string;
}

/** The flow of an artifact, which only its address says. */
function flowOf(artifact: Artifact): string {
  const [, flow] =
    /\/artifacts\/[^/]+\/([^/]+)\/fingerprint\//.exec(artifact._links["self"]?.href ?? "") ?? [];
  return flow === undefined ? "" : decodeURIComponent(flow);
}

/** Joins what runs with what and where, ordered by commit and environment. */
function join({ live_artifacts, _embedded: { artifacts, environments } }: Live): Running[] {
  const byId = new Map(artifacts.map((artifact) => [artifact.id, artifact]));
  const names = new Map(environments.map(({ id, name }) => [id, name]));
  return live_artifacts.map((entry) => ({
    entry,
    artifact: byId.get(entry.artifact_id),
    environment: names.get(entry.environment_id) ?? "",
  }));
}

function columnsOf(org: string): Column<Running>[] {
  return [
    {
      key: "verdict",
      head: "Verdict",
      width: "142px",
      cell: ({ entry }) => <VerdictMark verdict={verdictOfText(entry.compliance)} />,
    },
    {
      key: "commit",
      head: "Commit",
      width: "96px",
      cell: ({ artifact }) => <CommitLink org={org} sha={artifact?.commit_sha} />,
    },
    {
      key: "environment",
      head: "Environment",
      cell: ({ environment: env }) => (
        <Link to="/$org/environments/$env" params={{ org, env }}>
          {env}
        </Link>
      ),
    },
    {
      key: "artifact",
      head: "Artifact",
      cell: ({ entry, artifact }) =>
        artifact === undefined ? (
          entry.artifact_name
        ) : (
          <span className={styles["name"]}>
            <ArtifactLink
              org={org}
              flow={flowOf(artifact)}
              fingerprint={artifact.fingerprint}
              name={entry.artifact_name}
            />
          </span>
        ),
    },
    {
      key: "fingerprint",
      head: "Fingerprint",
      isOptional: true,
      width: "110px",
      cell: ({ artifact }) => <Fingerprint value={artifact?.fingerprint ?? ""} />,
    },
    {
      key: "since",
      head: "Since",
      isOptional: true,
      width: "112px",
      cell: ({ entry }) => <Time at={entry.started_at} />,
    },
  ];
}

/** What of a repo runs where now. */
export function RepoRuns({ org, repo }: RepoPartProps) {
  const query = useQuery(liveQuery(org, repo.name, repo.id));
  return (
    <Loaded query={query} waiting={<div className={styles["room"]} aria-busy="true" />}>
      {(live) =>
        live.live_artifacts.length === 0 ? (
          <Empty
            title="Nothing of it runs now"
            text="No environment has said that it runs something built from this repo."
          />
        ) : (
          <Table
            label="What of it runs"
            columns={columnsOf(org)}
            rows={join(live)}
            rowKey={({ entry }) => `${entry.environment_id} ${entry.artifact_id} ${entry.artifact_name}`}
          />
        )
      }
    </Loaded>
  );
}
