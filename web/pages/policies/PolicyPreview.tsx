import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";

import { withMistakes } from "../../api/errors.ts";
import { flips, previewStrips, ranIn } from "../../domain/previewed.ts";
import { daySeconds } from "../../domain/times.ts";
import { Fingerprint } from "../../parts/Fingerprint.tsx";
import { EnvironmentPicker } from "../../parts/EnvironmentPicker.tsx";
import { SnapshotStrip } from "../../parts/SnapshotStrip.tsx";
import { VerdictMark } from "../../parts/Verdict.tsx";
import { Button } from "../../ui/Button.tsx";
import { ErrorNote } from "../../ui/ErrorNote.tsx";
import { controlClass } from "../../ui/Field.tsx";
import { Card, Fold, Quiet, Stack } from "../../ui/Layout.tsx";
import { type Column, Table } from "../../ui/Table.tsx";
import { useNow } from "../../ui/Time.tsx";
import styles from "./Editor.module.css";
import { type PreviewedEnvironment, previewQuery, type Trial } from "./preview.ts";
import type { previewPeriods } from "./queries.ts";

type Period = (typeof previewPeriods)[number];
type Artifact = PreviewedEnvironment["non_compliant_artifacts"][number];

const periodWords: Readonly<Record<Period, string>> = {
  now: "What runs now",
  "1d": "Last 24 hours",
  "7d": "Last 7 days",
  "30d": "Last 30 days",
  "90d": "Last 90 days",
};

const daysOf: Readonly<Record<Period, number>> = { now: 0, "1d": 1, "7d": 7, "30d": 30, "90d": 90 };
const periods = Object.keys(periodWords) as Period[];

function spanWords(spans: Artifact["snapshots"]): string {
  return spans
    .map(({ first_index, last_index }) =>
      first_index === last_index ? `${first_index}` : `${first_index}–${last_index}`,
    )
    .join(", ");
}

const columns: Column<Artifact>[] = [
  {
    key: "name",
    head: "Artifact",
    cell: ({ name, fingerprint }) => (
      <div className={styles["artifact"]}>
        {name}
        <div>
          <Fingerprint value={fingerprint} />
        </div>
      </div>
    ),
  },
  {
    key: "why",
    head: "Would fail because",
    cell: ({ reasons }) => (
      <ul className={styles["reasons"]}>
        {reasons.map(({ rule, message }) => (
          <li key={`${rule} ${message}`}>{message}</li>
        ))}
      </ul>
    ),
  },
  {
    key: "snapshots",
    head: "In snapshots",
    isOptional: true,
    width: "130px",
    cell: ({ snapshots }) => <Quiet>{spanWords(snapshots)}</Quiet>,
  },
];

function resultWords(environment: PreviewedEnvironment): string {
  const { snapshots } = environment;
  const { stricter, milder } = flips(snapshots);
  const failing = snapshots.filter(({ would_be_compliant }) => !would_be_compliant).length;
  const of = snapshots.length === 1 ? "the snapshot" : `${failing} of ${snapshots.length} snapshots`;
  if (failing === 0) return milder === 0 ? "would pass" : `would pass; ${milder} failed then`;
  return `would fail in ${of}${stricter === 0 ? "" : `; ${stricter} passed then`}`;
}

function Strips({
  environment: { name, snapshots },
  at,
  onChoose,
}: {
  environment: PreviewedEnvironment;
  at: number | undefined;
  onChoose: (index: number) => void;
}) {
  const { was, wouldBe } = previewStrips(snapshots);
  const index = at ?? snapshots.at(-1)?.index ?? 0;
  const rows = [
    ["Then", was],
    ["With this policy", wouldBe],
  ] as const;
  return (
    <div className={styles["strips"]}>
      {rows.map(([label, strip]) => (
        <div key={label}>
          <h4>{label}</h4>
          <SnapshotStrip
            snapshots={strip}
            gaps={[]}
            handles={[{ label: `${label}, ${name}`, index, onChoose, isImmediate: true }]}
          />
        </div>
      ))}
    </div>
  );
}

function Result({ org, environment }: { org: string; environment: PreviewedEnvironment }) {
  const { name, snapshots, non_compliant_artifacts } = environment;
  const [at, choose] = useState<number>();
  const isFine = snapshots.every(({ would_be_compliant }) => would_be_compliant);
  const failing = non_compliant_artifacts.filter((artifact) => ranIn(artifact.snapshots, at));
  return (
    <div className={styles["result"]}>
      <div className={styles["resultHead"]}>
        <h3>
          <Link to="/$org/environments/$env" params={{ org, env: name }} target="_blank">
            {name}
          </Link>
        </h3>
        <VerdictMark verdict={isFine ? "compliant" : "non-compliant"} words={resultWords(environment)} />
      </div>
      {snapshots.length > 1 ? <Strips environment={environment} at={at} onChoose={choose} /> : null}
      {at === undefined ? null : (
        <p className={styles["chosen"]}>
          What would fail in snapshot {at}
          <Button look="quiet" onClick={() => choose(undefined)}>
            Show all snapshots
          </Button>
        </p>
      )}
      {failing.length === 0 ? (
        at === undefined ? null : (
          <Quiet>Nothing.</Quiet>
        )
      ) : (
        <Fold
          title={`${failing.length} failing ${failing.length === 1 ? "artifact" : "artifacts"}`}
          isOpen={failing.length <= 12}
        >
          <Table
            label={`What would fail in ${name}`}
            columns={columns}
            rows={failing}
            rowKey={({ name: artifact, fingerprint }) => `${artifact} ${fingerprint}`}
          />
        </Fold>
      )}
    </div>
  );
}

function Results({ org, trial, isChanged }: { org: string; trial: Trial; isChanged: boolean }) {
  const query = useQuery({ ...previewQuery(org, trial), placeholderData: keepPreviousData });
  const { data, error, refetch } = query;
  const isOld = isChanged || query.isFetching;
  if (error !== null) return <ErrorNote failure={withMistakes(error)} retry={() => void refetch()} />;
  if (data === undefined)
    return (
      <div className={styles["waiting"]} role="status">
        Judging what ran…
      </div>
    );
  const environments = data.environments.toSorted(
    (a, b) => b.non_compliant_artifacts.length - a.non_compliant_artifacts.length,
  );
  return (
    <div aria-live="polite" data-old={isOld} className={styles["results"]}>
      {isChanged ? <Quiet isSmall>Of an earlier text, or of another choice. Preview again.</Quiet> : null}
      {environments.length === 0 ? (
        <Quiet>Nothing was reported there, so nothing would be judged.</Quiet>
      ) : null}
      {environments.map((environment) => (
        <Result key={environment.name} org={org} environment={environment} />
      ))}
    </div>
  );
}

function PeriodField({
  period,
  onChange,
}: {
  period: Period;
  onChange: (period: Period | undefined) => void;
}) {
  return (
    <select
      className={controlClass}
      aria-label="Period"
      value={period}
      onChange={(event) => onChange(periods.find((one) => one === event.target.value))}
    >
      {periods.map((one) => (
        <option key={one} value={one}>
          {periodWords[one]}
        </option>
      ))}
    </select>
  );
}

interface PolicyPreviewProps {
  org: string;
  text: string;
  /** Whether the text was found to be right. */
  isRight: boolean;
  /** Why it cannot be tried. */
  refused: string | undefined;
  chosen: readonly string[];
  /** The environments that it judges already. */
  attachedTo: readonly string[];
  period: Period;
  onChange: (to: { environment?: string[] | undefined; period?: Period | undefined }) => void;
}

/** In so many environments a policy is tried unasked. */
const mostFollowed = 10;

const isSameChoice = (a: Trial, b: Trial, period: Period, tried: Period): boolean =>
  a.text === b.text && period === tried && a.environments?.join("\n") === b.environments?.join("\n");

/**
 * Keeps what the text is tried on. A new version is tried by itself where the policy judges already, whenever its text is right:
 * that is what one edits it for.
 */
function useTrial({
  text,
  isRight,
  chosen,
  attachedTo,
  period,
}: Pick<PolicyPreviewProps, "text" | "isRight" | "chosen" | "attachedTo" | "period">) {
  const now = useNow(60_000);
  const [asked, ask] = useState<{ trial: Trial; period: Period }>();
  const wanted: Trial = {
    text,
    environments: chosen.length > 0 ? chosen : attachedTo.length > 0 ? attachedTo : null,
    start_ts: period === "now" ? null : Math.floor(now) - daysOf[period] * daySeconds,
  };
  const isFollowed = isRight && attachedTo.length > 0 && attachedTo.length <= mostFollowed;
  if (isFollowed && (asked === undefined || !isSameChoice(wanted, asked.trial, period, asked.period)))
    ask({ trial: wanted, period });
  return { wanted, asked, ask };
}

/** Tries the text on what runs or ran: the verdicts then against those there would have been, and what would have failed. */
export function PolicyPreview({
  org,
  text,
  isRight,
  refused,
  chosen,
  attachedTo,
  period,
  onChange,
}: PolicyPreviewProps) {
  const queries = useQueryClient();
  const { wanted, asked, ask } = useTrial({ text, isRight, chosen, attachedTo, period });
  const preview = (): void => {
    ask({ trial: wanted, period });
    // The same may have been asked before: what runs, and what is known of it, may be something else by now.
    void queries.invalidateQueries({ queryKey: previewQuery(org, wanted).queryKey, exact: true });
  };
  return (
    <Card title="Preview">
      <Stack>
        <EnvironmentPicker
          org={org}
          label="Try it on"
          chosen={chosen}
          onChange={(environment) =>
            onChange({ environment: environment.length === 0 ? undefined : environment, period })
          }
          hint={
            attachedTo.length === 0
              ? "None chosen: all environments."
              : "None chosen: the environments that it is attached to."
          }
        />
        <div className={styles["tryLine"]}>
          <PeriodField
            period={period}
            onChange={(to) => onChange({ environment: [...chosen], period: to })}
          />
          <Button look="primary" icon="running" refused={refused} onClick={preview}>
            Preview
          </Button>
        </div>
        <Quiet isSmall>
          At most 100 environments, 1,000 snapshots and 10,000 artifacts at a time, judged by what flows and
          allow-lists say now. Nothing is stored.
        </Quiet>
        {asked === undefined ? null : (
          <Results
            org={org}
            trial={asked.trial}
            isChanged={!isSameChoice(wanted, asked.trial, period, asked.period)}
          />
        )}
      </Stack>
    </Card>
  );
}
