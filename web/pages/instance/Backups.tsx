import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";

import type { AnswerOf } from "../../api/contract.ts";
import { bytesInWords, fileName, runKindWords, runStateWords } from "../../domain/backups.ts";
import { numberWords } from "../../domain/numbers.ts";
import { duration } from "../../domain/times.ts";
import { FailedToRead } from "../../parts/Loaded.tsx";
import { Button } from "../../ui/Button.tsx";
import { CodeBlock } from "../../ui/Copy.tsx";
import { Empty } from "../../ui/Empty.tsx";
import { Card, Columns, Facts, OneLine, Quiet, Stack, Wrapping } from "../../ui/Layout.tsx";
import { Status } from "../../ui/Status.tsx";
import { type Column, Table } from "../../ui/Table.tsx";
import { Time } from "../../ui/Time.tsx";
import { InstanceFrame } from "./InstanceFrame.tsx";
import { backupsQuery } from "./queries.ts";

type Known = AnswerOf<"GET /instance/backups">;
type Run = Known["runs"][number];

function RunMark({ run }: { run: Run }) {
  const [kind, words] = runStateWords(run);
  return <Status kind={kind} words={words} />;
}

function File({ file }: { file: string | null }) {
  const name = fileName(file);
  return name === undefined ? (
    <Quiet>{file === "-" ? "standard output" : "none"}</Quiet>
  ) : (
    <OneLine text={name} />
  );
}

const number = (count: number | null): string => (count === null ? "" : numberWords(count));

const columns: Column<Run>[] = [
  {
    key: "kind",
    head: "What",
    cell: ({ kind, scheduled }) => (
      <>
        <strong>{runKindWords(kind)}</strong> <Quiet isSmall>{scheduled ? "by the clock" : "by hand"}</Quiet>
      </>
    ),
  },
  { key: "state", head: "Outcome", cell: (run) => <RunMark run={run} /> },
  { key: "started", head: "Begun", cell: ({ started_at }) => <Time at={started_at} /> },
  {
    key: "took",
    head: "Took",
    isOptional: true,
    cell: ({ started_at, ended_at }) => (ended_at === null ? "" : duration(ended_at - started_at)),
  },
  {
    key: "bytes",
    head: "Size",
    isNumber: true,
    isOptional: true,
    cell: ({ bytes }) => (bytes === null ? "" : bytesInWords(bytes)),
  },
  { key: "rows", head: "Rows", isNumber: true, isOptional: "wide", cell: ({ rows }) => number(rows) },
  { key: "file", head: "File", isOptional: "wide", cell: ({ file }) => <File file={file} /> },
];

/** What to do where nothing is backed up by itself. */
function SetUp({ known }: { known: Known }) {
  if (known.to !== null) return null;
  return (
    <Card title="Backups are not made by themselves">
      <Stack>
        <p>
          Name a folder on another disk or machine in the settings of the server, and start it again. It then
          makes a backup every night and restores the last one beside every week, to see that it can be
          restored.
        </p>
        <CodeBlock label="Setting" text={"WAYBILL_BACKUP_TO=/mnt/backups\nWAYBILL_BACKUP_KEEP=7d,4w,12m"} />
        <p>
          <Quiet>Or make one by hand, beside the running server:</Quiet>
        </p>
        <CodeBlock label="Command" text="waybill backup --to /mnt/backups/ --verify" />
      </Stack>
    </Card>
  );
}

/** The last that succeeded, or that there is none. */
function Last({
  title,
  run,
  none,
  next,
}: {
  title: string;
  run: Run | null;
  none: ReactNode;
  next: Known["backup"];
}) {
  return (
    <Card title={title} aside={run === null ? undefined : <RunMark run={run} />}>
      {run === null ? (
        <p>
          <Quiet>{none}</Quiet>
        </p>
      ) : null}
      <Facts
        facts={[
          ["Last", run === null ? undefined : <Time key="last" at={run.ended_at} />],
          ["Took", run === null ? undefined : duration((run.ended_at ?? run.started_at) - run.started_at)],
          ["Size", run?.bytes === null || run === null ? undefined : bytesInWords(run.bytes)],
          ["Rows", number(run?.rows ?? null)],
          ["Files of evidence", number(run?.evidence_files ?? null)],
          ["File", run === null ? undefined : <File key="file" file={run.file} />],
          ["Next", next === null ? "not by itself" : <Time key="next" at={next.next_at} mayBeAhead />],
          ["Schedule", next === null ? undefined : <code key="schedule">{next.cron}</code>],
        ]}
      />
    </Card>
  );
}

/** Runs that are shown before somebody wants to see all. */
const fewRuns = 20;

function Runs({ runs }: { runs: Run[] }) {
  const [areAll, showAll] = useState(false);
  const shown = areAll ? runs : runs.slice(0, fewRuns);
  return (
    <>
      <Table
        label="Backups, restores and drills"
        columns={columns}
        rows={shown}
        rowKey={({ id }) => id}
        below={({ problem }) => (problem === null ? undefined : <Wrapping>{problem}</Wrapping>)}
      />
      {shown.length === runs.length ? null : (
        <Button onClick={() => showAll(true)}>Show all {runs.length}</Button>
      )}
    </>
  );
}

function Shown({ known }: { known: Known }) {
  const { last_backup, last_restore_drill, backup, restore_drill, runs } = known;
  return (
    <Stack>
      <SetUp known={known} />
      <Columns>
        <Last title="Last backup" run={last_backup} none="No backup has succeeded yet." next={backup} />
        <Last
          title="Last restore drill"
          run={last_restore_drill}
          none={
            <>
              No backup was restored beside yet: <code>waybill restore drill</code> does it now.
            </>
          }
          next={restore_drill}
        />
      </Columns>
      <Card title="Runs">
        {runs.length === 0 ? (
          <Empty
            title="Nothing was done yet"
            text="Backups, restores and drills are listed here, whoever begins them."
          />
        ) : (
          <Runs runs={runs} />
        )}
        <p>
          <Quiet isSmall>
            The latest hundred, of all servers on this database. Schedules are in UTC, and those of the server
            that answered{known.to === null ? "" : `, whose backups go to ${known.to}`}
            {known.keep === null ? "" : ` and are kept by the rule ${known.keep}`}.
          </Quiet>
        </p>
      </Card>
    </Stack>
  );
}

/** What was done about backups, and what comes next. */
export function Backups() {
  const query = useQuery(backupsQuery);
  const { data: known, error } = query;
  const newest = known?.runs.find(({ kind }) => kind === "backup");
  return (
    <InstanceFrame
      verdict={newest === undefined ? undefined : <RunMark run={newest} />}
      about={
        known === undefined ? (
          <span>{error === null ? "One moment" : <>&nbsp;</>}</span>
        ) : known.last_backup === null ? (
          <span>There is no backup</span>
        ) : (
          <span>
            Last backup <Time at={known.last_backup.ended_at} />
          </span>
        )
      }
    >
      {known !== undefined ? (
        <Shown known={known} />
      ) : error !== null ? (
        <FailedToRead error={error} retry={() => void query.refetch()} />
      ) : (
        <Card title="Runs">
          <Table label="Backups, restores and drills" columns={columns} rows={undefined} rowKey={() => ""} />
        </Card>
      )}
    </InstanceFrame>
  );
}
