import { Link } from "@tanstack/react-router";

import { verdictOfText } from "../../domain/verdict.ts";
import { ForeignLink } from "../../parts/ForeignLink.tsx";
import { PageLink } from "../../parts/PageLink.tsx";
import { CommitLink, FlowLink, TrailLink } from "../../parts/ProcessLinks.tsx";
import { Short } from "../../parts/Short.tsx";
import { VerdictMark } from "../../parts/Verdict.tsx";
import { Card, Quiet } from "../../ui/Layout.tsx";
import { type Column, Table } from "../../ui/Table.tsx";
import { Time } from "../../ui/Time.tsx";
import styles from "./Artifacts.module.css";
import type { FoundArtifact } from "./queries.ts";

function Name({ org, artifact }: { org: string; artifact: FoundArtifact }) {
  const { name, html_url, fingerprint } = artifact;
  return (
    <>
      {html_url === "" ? (
        <Link to="/$org/artifacts/$fingerprint" params={{ org, fingerprint }} className={styles["name"]}>
          {name}
        </Link>
      ) : (
        <PageLink address={html_url} className={styles["name"]}>
          {name}
        </PageLink>
      )}
      <Quiet isSmall>
        {" "}
        <code>
          <Short text={fingerprint} />
        </code>
      </Quiet>
    </>
  );
}

function Process({ org, flow, trail }: { org: string; flow: string; trail: string }) {
  if (flow === "") return <Quiet>none knows it</Quiet>;
  return (
    <>
      <FlowLink org={org} flow={flow} /> / <TrailLink org={org} flow={flow} trail={trail} />
    </>
  );
}

/** When an artifact was first reported: the event of its history that the search calls so. */
function createdAt({ history }: FoundArtifact): number | undefined {
  return history.find(({ event }) => event === "Artifact created")?.timestamp;
}

function EnvironmentList({ org, names }: { org: string; names: readonly string[] }) {
  if (names.length === 0) return <Quiet>nowhere</Quiet>;
  return (
    <span className={styles["names"]}>
      {names.slice(0, 4).map((env) => (
        <Link key={env} to="/$org/environments/$env" params={{ org, env }}>
          {env}
        </Link>
      ))}
      {names.length > 4 ? <Quiet>+{names.length - 4}</Quiet> : null}
    </span>
  );
}

function columnsOf(org: string): Column<FoundArtifact>[] {
  return [
    {
      key: "state",
      head: "State",
      width: "142px",
      cell: ({ compliance_state, has_provenance }) => (
        <VerdictMark
          verdict={verdictOfText(compliance_state)}
          words={has_provenance ? undefined : "Origin unknown"}
        />
      ),
    },
    {
      key: "name",
      head: "Artifact",
      cell: (artifact) => <Name org={org} artifact={artifact} />,
    },
    {
      key: "flow",
      head: "Flow and trail",
      isOptional: true,
      cell: ({ flow, trail }) => <Process org={org} flow={flow} trail={trail} />,
    },
    {
      key: "commit",
      head: "Commit",
      isOptional: true,
      width: "96px",
      cell: ({ git_commit }) => <CommitLink org={org} sha={git_commit} />,
    },
    {
      key: "runs",
      head: "Runs in",
      cell: ({ running_in }) => <EnvironmentList org={org} names={running_in} />,
    },
    {
      key: "ran",
      head: "Ran in",
      isOptional: true,
      cell: ({ exited_from }) => <EnvironmentList org={org} names={exited_from} />,
    },
    {
      key: "build",
      head: "Built",
      isOptional: true,
      width: "150px",
      cell: (artifact) => (
        <>
          <Time at={createdAt(artifact)} />{" "}
          {artifact.build_url === "" ? null : <ForeignLink address={artifact.build_url}>build</ForeignLink>}
        </>
      ),
    },
  ];
}

interface FlowsProps {
  org: string;
  title: string;
  artifacts: readonly FoundArtifact[];
}

/** Artifacts as flows know them; nothing when there are none. */
export function Flows({ org, title, artifacts }: FlowsProps) {
  if (artifacts.length === 0) return null;
  return (
    <Card title={title}>
      <Table
        label={title}
        columns={columnsOf(org)}
        rows={artifacts}
        rowKey={({ fingerprint, flow, trail }) => `${fingerprint} ${flow} ${trail}`}
      />
    </Card>
  );
}
