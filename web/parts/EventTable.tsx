import { Link } from "@tanstack/react-router";

import type { AnswerOf } from "../api/contract.ts";
import { eventWords } from "../domain/events.ts";
import { type Verdict, verdictOfFlag } from "../domain/verdict.ts";
import { Quiet, Tag } from "../ui/Layout.tsx";
import { type Column, Table } from "../ui/Table.tsx";
import { Time } from "../ui/Time.tsx";
import styles from "./EventTable.module.css";
import { Fingerprint } from "./Fingerprint.tsx";
import { ForeignLink } from "./ForeignLink.tsx";
import { PageLink } from "./PageLink.tsx";
import { FlowLink } from "./ProcessLinks.tsx";
import { VerdictMark } from "./Verdict.tsx";

type EnvironmentEvent = AnswerOf<"GET /environments/{org}/{env_name}/events">[number];

/** Says what is to be said of an artifact's verdict: nothing of what has gone. */
function verdictOf({ type, artifact_compliance }: EnvironmentEvent): Verdict | undefined {
  return type === "exited" ? undefined : verdictOfFlag(artifact_compliance);
}

function Artifact({ event }: { event: EnvironmentEvent }) {
  return (
    <>
      <span className={styles["narrow"]}>
        <Tag>{eventWords(event.type)}</Tag>
        <Quiet isSmall>
          <Time at={event.reported_at} />
        </Quiet>
      </span>
      <PageLink address={event._links.artifact?.html} className={styles["name"]}>
        {event.artifact_name}
      </PageLink>
      <Quiet isSmall>
        <span className={styles["description"]}>{event.description}</span>
      </Quiet>
    </>
  );
}

/** The flow that made it, and what its code changed. */
function Origin({ org, event: { pipeline, code_diff } }: { org: string; event: EnvironmentEvent }) {
  return (
    <span className={styles["origin"]}>
      <FlowLink org={org} flow={pipeline} />
      {code_diff === null ? null : <ForeignLink address={code_diff}>what changed</ForeignLink>}
    </span>
  );
}

const columns: readonly Column<EnvironmentEvent>[] = [
  {
    key: "when",
    head: "When",
    width: "108px",
    isOptional: true,
    cell: ({ reported_at }) => <Time at={reported_at} />,
  },
  {
    key: "what",
    head: "What",
    width: "140px",
    isOptional: true,
    cell: ({ type }) => <Tag>{eventWords(type)}</Tag>,
  },
  { key: "artifact", head: "Artifact", width: "34%", cell: (event) => <Artifact event={event} /> },
  {
    key: "verdict",
    head: "Verdict",
    width: "142px",
    isOptional: true,
    cell: (event) => {
      const verdict = verdictOf(event);
      return verdict === undefined ? <Quiet>–</Quiet> : <VerdictMark verdict={verdict} />;
    },
  },
  {
    key: "fingerprint",
    head: "Fingerprint",
    isOptional: true,
    cell: ({ sha256 }) => <Fingerprint value={sha256} />,
  },
];

interface EventTableProps {
  org: string;
  events: readonly EnvironmentEvent[] | undefined;
  /** Of several environments: says of which. */
  hasEnvironments?: boolean;
  isOld?: boolean;
}

/** What changed, an artifact a row, the newest first as the server has them. */
export function EventTable({ org, events, hasEnvironments, isOld }: EventTableProps) {
  const where: Column<EnvironmentEvent> = {
    key: "snapshot",
    head: hasEnvironments === true ? "Environment" : "Snapshot",
    cell: ({ environment_name: env, snapshot_index }) => (
      <Link
        to="/$org/environments/$env/snapshots/$expression"
        params={{ org, env, expression: String(snapshot_index) }}
      >
        {hasEnvironments === true ? env : ""}
        <span className={styles["number"]}>#{snapshot_index}</span>
      </Link>
    ),
  };
  const flow: Column<EnvironmentEvent> = {
    key: "flow",
    head: "Flow",
    isOptional: true,
    cell: (event) => <Origin org={org} event={event} />,
  };
  const [when, ...rest] = columns;
  return (
    <Table
      label="What changed"
      columns={when === undefined ? rest : [when, where, ...rest, flow]}
      rows={events}
      rowKey={({ environment_name, snapshot_index, sha256, artifact_name, type }, index) =>
        `${environment_name} ${snapshot_index} ${sha256} ${artifact_name} ${type} ${index}`
      }
      isOld={isOld === true}
    />
  );
}
