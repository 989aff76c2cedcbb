import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useMemo } from "react";

import { differencePath, numbered, readSnapshotName } from "../../domain/snapshot-names.ts";
import type { TimelineGap } from "../../domain/timeline.ts";
import { verdictOfFlag, verdictOfSnapshot } from "../../domain/verdict.ts";
import { FailedToRead } from "../../parts/Loaded.tsx";
import { PageLink } from "../../parts/PageLink.tsx";
import { SnapshotStrip } from "../../parts/SnapshotStrip.tsx";
import { VerdictMark } from "../../parts/Verdict.tsx";
import { PageHead } from "../../shell/PageHead.tsx";
import { Empty } from "../../ui/Empty.tsx";
import { Row, Tag } from "../../ui/Layout.tsx";
import { Table } from "../../ui/Table.tsx";
import { Time } from "../../ui/Time.tsx";
import styles from "./Compare.module.css";
import { CompareForm } from "./CompareForm.tsx";
import { Differences } from "./Differences.tsx";
import { choicesQuery, type Difference, differenceQuery, type Side, silencesQuery } from "./queries.ts";

const route = getRouteApi("/$org/diff");

function SideHead({ side, words }: { side: Side; words: string }) {
  return (
    <section className={styles["side"]} aria-label={words}>
      <span className={styles["which"]}>{words}</span>
      <PageLink address={side.html_url} className={styles["name"]}>
        {side.snapshot_id}
      </PageLink>
      <VerdictMark verdict={verdictOfFlag(side.compliant)} isPill />
      <span className={styles["when"]}>
        since <Time at={side.timestamp} exact />
      </span>
    </section>
  );
}

function Policies({ policies }: { policies: NonNullable<Difference["policies"]> }) {
  const { org } = route.useParams();
  if (policies.length === 0) return null;
  const version = (number: number | null): string => (number === null ? "not attached" : `v${number}`);
  return (
    <Row>
      <span className={styles["which"]}>Judged by other policies:</span>
      {policies.map(({ policy_name: policy, before_version, after_version }) => (
        <Link key={policy} to="/$org/policies/$policy" params={{ org, policy }}>
          <Tag>
            {policy}: {version(before_version)} → {version(after_version)}
          </Tag>
        </Link>
      ))}
    </Row>
  );
}

type SideName = "from" | "to";
const labels: Readonly<Record<SideName, string>> = { from: "Before", to: "After" };

/** The time of an environment, with a handle for each snapshot of it that is compared. */
function Handles({
  env,
  sides,
  gaps,
}: {
  env: string;
  sides: readonly (readonly [SideName, number])[];
  gaps: readonly TimelineGap[];
}) {
  const { org } = route.useParams();
  const navigate = route.useNavigate();
  const { data: listed } = useQuery(choicesQuery(org, env));
  const snapshots = useMemo(
    () =>
      (listed?.data ?? []).map((one) => ({
        ...one,
        verdict: verdictOfSnapshot(one.compliant, one.non_compliant_count),
      })),
    [listed],
  );
  if (snapshots.length === 0) return <div className={styles["room"]} aria-busy="true" />;
  const choose = (side: SideName) => (index: number) =>
    void navigate({
      search: (search) => ({ ...search, [side]: numbered(env, index) }),
      replace: true,
      resetScroll: false,
    });
  return (
    <SnapshotStrip
      snapshots={snapshots}
      gaps={gaps}
      handles={sides.map(([side, index]) => ({
        label: labels[side],
        index,
        onChoose: choose(side),
        isImmediate: true,
      }))}
    />
  );
}

const noGaps: readonly TimelineGap[] = [];

/** One environment's time with both handles, and where it was silent. */
function BothHandles({ env, before, after }: { env: string; before: number; after: number }) {
  const { org } = route.useParams();
  const { data } = useQuery(silencesQuery(org, env));
  const sides = [
    ["from", before],
    ["to", after],
  ] as const;
  return <Handles env={env} sides={sides} gaps={data?.gaps ?? noGaps} />;
}

/** Where the two snapshots stand in time; environments that are compared have a strip each, which does not tell silences. */
function Times({ difference: { snappish1: before, snappish2: after } }: { difference: Difference }) {
  const [env, other] = [before.environment_name, after.environment_name];
  if (env === undefined || other === undefined || before.index === undefined || after.index === undefined)
    return null;
  if (env === other) return <BothHandles env={env} before={before.index} after={after.index} />;
  return (
    <div className={styles["sides"]}>
      <Handles env={env} sides={[["from", before.index]]} gaps={noGaps} />
      <Handles env={other} sides={[["to", after.index]]} gaps={noGaps} />
    </div>
  );
}

function Compared({ difference }: { difference: Difference }) {
  const { snappish1: before, snappish2: after, policies = [] } = difference;
  return (
    <div className={styles["compared"]}>
      <div className={styles["sides"]}>
        <SideHead side={before} words="Before" />
        <SideHead side={after} words="After" />
      </div>
      <Times difference={difference} />
      <Policies policies={policies} />
      <Differences difference={difference} />
    </div>
  );
}

function Result({ from, to }: { from: string; to: string }) {
  const { org } = route.useParams();
  const query = useQuery(differenceQuery(org, from, to));
  const { data, error } = query;
  if (error !== null && data === undefined)
    return <FailedToRead error={error} retry={() => void query.refetch()} />;
  if (data === undefined)
    return <Table label="New versions" columns={[]} rows={undefined} rowKey={String} expectedRows={4} />;
  return <Compared difference={data} />;
}

function titleOf(from: string, to: string): string {
  const [one, other] = [readSnapshotName(from).env, readSnapshotName(to).env];
  return one === other ? `Compare ${one}` : `Compare ${one} with ${other}`;
}

/** Gives the path of this difference by the numbers of both snapshots, once they are known. */
function usePermanent(from: string | undefined, to: string | undefined): string | undefined {
  const { org } = route.useParams();
  const isComplete = from !== undefined && to !== undefined;
  const { data, isPlaceholderData } = useQuery({
    ...differenceQuery(org, from ?? "", to ?? ""),
    enabled: isComplete,
  });
  if (isPlaceholderData) return undefined;
  const names = [data?.snappish1, data?.snappish2].map((side) =>
    side?.environment_name === undefined || side.index === undefined
      ? undefined
      : numbered(side.environment_name, side.index),
  );
  const [before, after] = names;
  return before === undefined || after === undefined ? undefined : differencePath(org, before, after);
}

/** How two snapshots differ, of one environment or of two. */
export function Compare() {
  const { from, to } = route.useSearch();
  const permanent = usePermanent(from, to);
  const isComplete = from !== undefined && to !== undefined;
  return (
    <>
      <PageHead isWide title={isComplete ? titleOf(from, to) : "Compare"} permanent={permanent} />
      <CompareForm key={`${from} ${to}`} />
      {isComplete ? (
        <Result from={from} to={to} />
      ) : (
        <Empty
          title="Choose two snapshots"
          text="An environment's name stands for what runs there now. prod#7 is its seventh snapshot, prod~1 the one before the latest, prod@{2.days.ago} what ran two days ago."
        />
      )}
    </>
  );
}
