import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useCallback } from "react";

import { ApiError } from "../../api/errors.ts";
import { snapshotPath } from "../../domain/snapshot-names.ts";
import { exactDuration } from "../../domain/times.ts";
import { verdictOfSnapshot } from "../../domain/verdict.ts";
import { ExportMenu } from "../../parts/ExportMenu.tsx";
import { FailedToRead } from "../../parts/Loaded.tsx";
import { usePresentName } from "../../parts/present-name.ts";
import { VerdictMark } from "../../parts/Verdict.tsx";
import { Crumb, PageHead } from "../../shell/PageHead.tsx";
import { buttonClass } from "../../ui/Button.tsx";
import { Empty } from "../../ui/Empty.tsx";
import { Tag } from "../../ui/Layout.tsx";
import { Time } from "../../ui/Time.tsx";
import { EnvironmentStrip } from "./EnvironmentStrip.tsx";
import { artifactsExport } from "./exports.ts";
import { MomentField } from "./MomentField.tsx";
import { NewerSnapshots, useHeld } from "./NewerSnapshots.tsx";
import {
  expressionOf,
  type Silence,
  silenceQuery,
  type Snapshot as SnapshotAnswer,
  snapshotQuery,
  type SnapshotSearch,
} from "./queries.ts";
import { SnapshotArtifacts } from "./SnapshotArtifacts.tsx";
import { SnapshotSteps } from "./SnapshotSteps.tsx";

const route = getRouteApi("/$org/environments/$env/snapshots/$expression");

function About({ snapshot }: { snapshot: SnapshotAnswer }) {
  const { org } = route.useParams();
  const { timestamp, next_snapshot_timestamp: next, is_latest, applied_policies } = snapshot;
  return (
    <>
      <span>
        from <Time at={timestamp} exact />
      </span>
      {next === null ? (
        <span>until now</span>
      ) : (
        <span>
          to <Time at={next} exact />, for {exactDuration(next - timestamp)}
        </span>
      )}
      {is_latest ? <Tag>latest</Tag> : null}
      {applied_policies.length === 0 ? <span>no policy</span> : <span>judged by</span>}
      {applied_policies.map(({ name, version, failing_artifacts }) => (
        <Link key={name} to="/$org/policies/$policy" params={{ org, policy: name }}>
          <Tag>
            {name} v{version}
            {failing_artifacts.length === 0 ? "" : `: ${failing_artifacts.length} failing`}
          </Tag>
        </Link>
      ))}
    </>
  );
}

function Head({ snapshot }: { snapshot: SnapshotAnswer | undefined }) {
  const { org, env, expression } = route.useParams();
  const search = route.useSearch();
  return (
    <PageHead
      isWide
      permanent={snapshot === undefined ? undefined : snapshotPath(org, env, snapshot.index, search)}
      title={snapshot === undefined ? `Snapshot ${expression}` : `Snapshot ${snapshot.index}`}
      crumbs={
        <>
          <Crumb>
            <Link to="/$org/environments" params={{ org }}>
              Environments
            </Link>
          </Crumb>
          <Crumb>
            <Link to="/$org/environments/$env" params={{ org, env }}>
              {env}
            </Link>
          </Crumb>
        </>
      }
      verdict={
        snapshot === undefined ? null : (
          <VerdictMark
            verdict={verdictOfSnapshot(snapshot.compliant, snapshot.artifact_compliance_count.false)}
            isPill
          />
        )
      }
      about={snapshot === undefined ? <span>&nbsp;</span> : <About snapshot={snapshot} />}
      actions={
        snapshot === undefined ? null : (
          <>
            <SnapshotSteps
              org={org}
              env={env}
              index={snapshot.index}
              isLatest={snapshot.is_latest}
              search={search}
            />
            <ExportMenu
              list={artifactsExport(
                org,
                env,
                snapshot.index,
                search,
                snapshot.artifacts_left_out === undefined,
              )}
            />
          </>
        )
      }
      tools={<MomentField org={org} env={env} search={search} />}
    />
  );
}

function NoSnapshot({ error, retry }: { error: Error; retry: () => void }) {
  const { org, env, expression } = route.useParams();
  // Without the environment there is none of its snapshots.
  if (!(error instanceof ApiError) || error.status !== 404 || error.message.startsWith("Environment"))
    return <FailedToRead error={error} retry={retry} />;
  const isMoment = expression.startsWith("@");
  return (
    <Empty
      title={isMoment ? "Nothing was known of this moment" : "There is no such snapshot"}
      text={isMoment ? "Nothing had been reported on this environment by then." : error.message}
    >
      <p>
        <Link to="/$org/environments/$env" params={{ org, env }} className={buttonClass()}>
          What runs now
        </Link>
      </p>
    </Empty>
  );
}

const named = ({ environment_name }: Silence): { name: string } => ({ name: environment_name });

/** What ran in an environment from one change to the next. The latest stays as it was opened until somebody wants newer ones. */
function SnapshotOf() {
  const { org, env, expression } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery(snapshotQuery(org, env, expressionOf(expression)));
  // A snapshot does not say whose it is.
  usePresentName("env", useQuery({ ...silenceQuery(org, env), select: named }));
  const onSearch = useCallback(
    (change: SnapshotSearch, replace = false) =>
      void navigate({ search: (before) => ({ ...before, ...change }), replace, resetScroll: false }),
    [navigate],
  );
  const { data: latest, error } = query;
  const { shown, newer, show } = useHeld(latest);
  const data = expression === "latest" ? shown : latest;
  return (
    <>
      <Head snapshot={data} />
      {error !== null && data === undefined ? (
        <NoSnapshot error={error} retry={() => void query.refetch()} />
      ) : (
        <>
          <EnvironmentStrip org={org} env={env} selected={data?.index} search={search} />
          {expression === "latest" ? <NewerSnapshots newer={newer} onShow={show} /> : null}
          <SnapshotArtifacts
            org={org}
            env={env}
            snapshot={data}
            search={search}
            onSearch={onSearch}
            isOld={query.isPlaceholderData}
          />
        </>
      )}
    </>
  );
}

/** A snapshot's page; each environment, and each way to name a snapshot, has its own. */
export function Snapshot() {
  const { env, expression } = route.useParams();
  return <SnapshotOf key={`${env} ${expression === "latest" ? expression : ""}`} />;
}
