import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useCallback, useMemo } from "react";

import { snapshotPath } from "../../domain/snapshot-names.ts";
import { duration } from "../../domain/times.ts";
import { ExportMenu } from "../../parts/ExportMenu.tsx";
import { FailedToRead } from "../../parts/Loaded.tsx";
import { Note } from "../../ui/Note.tsx";
import { Tag } from "../../ui/Layout.tsx";
import { Time } from "../../ui/Time.tsx";
import { EnvironmentPage } from "./EnvironmentHead.tsx";
import styles from "./Environments.module.css";
import { EnvironmentStrip } from "./EnvironmentStrip.tsx";
import { NeverReported } from "./NeverReported.tsx";
import {
  type Environment as EnvironmentAnswer,
  environmentQuery,
  type Latest,
  latestOf,
  silenceQuery,
  snapshotQuery,
  type SnapshotSearch,
} from "./queries.ts";
import { artifactsExport } from "./exports.ts";
import { MomentField } from "./MomentField.tsx";
import { NewerSnapshots, useHeld } from "./NewerSnapshots.tsx";
import { PagedArtifacts } from "./PagedArtifacts.tsx";
import { SnapshotArtifacts, WaitingArtifacts } from "./SnapshotArtifacts.tsx";
import { SnapshotSteps } from "./SnapshotSteps.tsx";

const route = getRouteApi("/$org/environments/$env");

function Members({ org, members }: { org: string; members: readonly string[] }) {
  return (
    <div className={styles["members"]}>
      Made of
      {members.map((env) => (
        <Link key={env} to="/$org/environments/$env" params={{ org, env }}>
          <Tag>{env}</Tag>
        </Link>
      ))}
    </div>
  );
}

function Silence({ org, env }: { org: string; env: string }) {
  const { data } = useQuery(silenceQuery(org, env));
  if (data?.is_stale !== true) return null;
  const usual = data.usual_interval_seconds;
  return (
    <div className={styles["members"]}>
      <Note kind="warn">
        Its reporter has been silent since <Time at={data.last_reported_at ?? data.stale_since} />
        {usual === null ? "" : `; it used to report every ${duration(Math.max(1, usual))}`}. What is shown is
        what it last said.
      </Note>
    </div>
  );
}

type RunningProps = Omit<Parameters<typeof WaitingArtifacts>[0], "isOld">;

function Held({ index, ...list }: RunningProps & { index: number }) {
  const query = useQuery(snapshotQuery(list.org, list.env, String(index)));
  const { data, error } = query;
  if (error !== null && data === undefined)
    return <FailedToRead error={error} retry={() => void query.refetch()} />;
  return <SnapshotArtifacts {...list} snapshot={data} isOld={query.isPlaceholderData} />;
}

/** Exports what is shown of a snapshot. */
function Export({ index, isLarge }: Latest) {
  const { org, env } = route.useParams();
  const search = route.useSearch();
  const { data } = useQuery({ ...snapshotQuery(org, env, String(index)), enabled: !isLarge });
  const isHeld = !isLarge && data?.artifacts_left_out === undefined;
  return <ExportMenu list={artifactsExport(org, env, index, search, isHeld)} />;
}

/** What runs in the snapshot that is shown. */
function WhatRuns({
  environment,
  shown,
}: {
  environment: EnvironmentAnswer | undefined;
  shown: Latest | undefined;
}) {
  const { org, env } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const onSearch = useCallback(
    (change: SnapshotSearch, replace = false) =>
      void navigate({ search: (before) => ({ ...before, ...change }), replace, resetScroll: false }),
    [navigate],
  );
  const list = { org, env, search, onSearch };
  if (environment === undefined || shown === undefined) return <WaitingArtifacts {...list} />;
  if (shown.index === 0) return <NeverReported org={org} environment={environment} />;
  return shown.isLarge ? (
    <PagedArtifacts {...list} index={shown.index} />
  ) : (
    <Held {...list} index={shown.index} />
  );
}

/** An environment with what runs there now: head and list stay as they were opened until somebody wants to see what came since. */
export function Environment() {
  const { org, env } = route.useParams();
  const query = useQuery(environmentQuery(org, env));
  const { data: environment } = query;
  const search = route.useSearch();
  const { shown, newer, show } = useHeld(useMemo(() => latestOf(environment), [environment]));
  const snapshot = shown === undefined || shown.index === 0 ? undefined : shown;
  const isMissing = query.error !== null && environment === undefined;
  return (
    <EnvironmentPage
      org={org}
      env={env}
      current="/$org/environments/$env"
      actions={
        snapshot === undefined ? null : (
          <>
            <SnapshotSteps org={org} env={env} index={snapshot.index} isLatest isNow search={search} />
            <Export {...snapshot} />
          </>
        )
      }
      tools={<MomentField org={org} env={env} search={search} />}
      permanent={snapshot === undefined ? undefined : snapshotPath(org, env, snapshot.index, search)}
    >
      {isMissing ? (
        <FailedToRead error={query.error} retry={() => void query.refetch()} />
      ) : (
        <>
          <Silence org={org} env={env} />
          <EnvironmentStrip org={org} env={env} search={search} />
          {environment?.included_environments === null ||
          environment?.included_environments === undefined ? null : (
            <Members org={org} members={environment.included_environments} />
          )}
          <NewerSnapshots newer={newer} onShow={show} />
          <WhatRuns environment={environment} shown={shown} />
        </>
      )}
    </EnvironmentPage>
  );
}
