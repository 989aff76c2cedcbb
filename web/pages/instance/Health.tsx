import { useQuery } from "@tanstack/react-query";

import type { AnswerOf } from "../../api/contract.ts";
import {
  checkWords,
  type Health as HealthStatus,
  healthInWords,
  mostUrgentFirst,
} from "../../domain/health.ts";
import { FailedToRead } from "../../parts/Loaded.tsx";
import { Button } from "../../ui/Button.tsx";
import { Card, Quiet, Wrapping } from "../../ui/Layout.tsx";
import { Status, type StatusKind } from "../../ui/Status.tsx";
import { type Column, Table } from "../../ui/Table.tsx";
import { Time } from "../../ui/Time.tsx";
import { InstanceFrame } from "./InstanceFrame.tsx";
import { healthQuery } from "./queries.ts";

type Check = AnswerOf<"GET /health">["checks"][number];

const statuses: Readonly<Record<HealthStatus, readonly [StatusKind, string]>> = {
  ok: ["good", "ok"],
  degraded: ["warn", "degraded"],
  failing: ["bad", "failing"],
};

function HealthMark({ status }: { status: HealthStatus }) {
  const [kind, words] = statuses[status];
  return <Status kind={kind} words={words} />;
}

const columns: Column<Check>[] = [
  {
    key: "name",
    head: "Check",
    cell: ({ name, detail }) => (
      <Wrapping>
        <strong>{checkWords(name)}</strong>
        <br />
        <Quiet isSmall>{detail}</Quiet>
      </Wrapping>
    ),
  },
  {
    key: "status",
    head: "Status",
    cell: ({ status }) => <HealthMark status={status} />,
  },
  { key: "since", head: "Since", isOptional: true, cell: ({ since }) => <Time at={since} /> },
];

/** How the installation stands: what was checked, what was found, since when. */
export function Health() {
  const query = useQuery(healthQuery);
  const { data: report, error, isFetching, dataUpdatedAt } = query;
  const lookAgain = (): void => void query.refetch();
  return (
    <InstanceFrame
      verdict={report === undefined ? undefined : <HealthMark status={report.status} />}
      about={
        report === undefined ? (
          <span>{error === null ? "One moment" : <>&nbsp;</>}</span>
        ) : (
          <>
            <span>{healthInWords(report.checks)}</span>
            <span>Waybill {report.version}</span>
            <span>
              looked at <Time at={dataUpdatedAt / 1000} />
            </span>
          </>
        )
      }
    >
      <Card
        title="Health"
        aside={<Button onClick={lookAgain}>{isFetching ? "Looking…" : "Look again"}</Button>}
      >
        {error !== null && report === undefined ? (
          <FailedToRead error={error} retry={lookAgain} />
        ) : (
          <Table
            label="Checks"
            columns={columns}
            rows={report === undefined ? undefined : mostUrgentFirst(report.checks)}
            rowKey={({ name }) => name}
            expectedRows={14}
          />
        )}
        <p>
          <Quiet isSmall>
            Of the server that answered: every server checks for itself. “Since” goes back as far as it has
            looked.
          </Quiet>
        </p>
      </Card>
    </InstanceFrame>
  );
}
