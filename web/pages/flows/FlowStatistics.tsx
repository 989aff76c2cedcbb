import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

import type { AnswerOf } from "../../api/contract.ts";
import { percentOf } from "../../domain/charts.ts";
import { numberWords } from "../../domain/numbers.ts";
import { periodWords } from "../../domain/periods.ts";
import { exactDuration, exactTime, unitFor } from "../../domain/times.ts";
import type { TrailSearch } from "../../domain/trail-search.ts";
import { Loaded } from "../../parts/Loaded.tsx";
import { Bars } from "../../ui/charts/Bars.tsx";
import type { Series } from "../../ui/charts/looks.tsx";
import { FilterBar, Choice } from "../../ui/Field.tsx";
import { Card, Quiet, Stack } from "../../ui/Layout.tsx";
import { Note } from "../../ui/Note.tsx";
import { Table } from "../../ui/Table.tsx";
import { useNow } from "../../ui/Time.tsx";
import { FlowHead } from "./FlowHead.tsx";
import { statisticsPeriods, statisticsQuery } from "./queries.ts";

const route = getRouteApi("/$org/flows/$flow/statistics");
type Statistics = AnswerOf<"GET /flows/{org}/{flow_name}/statistics">;

const periodChoices = statisticsPeriods.map((period) => [period, periodWords[period]] as const);

const series: readonly Series[] = [
  { look: "good", words: "compliant" },
  { look: "bad", words: "non-compliant" },
  { look: "warn", words: "incomplete" },
];

const dayOf = (at: number): string => exactTime(at, "UTC").slice(5, 10);
const took = (seconds: number | null): string =>
  seconds === null ? "–" : exactDuration(Math.max(1, seconds));

/** The trails that a number counts. */
function Counted({ filter, children }: { filter?: TrailSearch; children: ReactNode }) {
  const { org, flow } = route.useParams();
  const { period: since = "30d", until } = route.useSearch();
  return (
    <Link to="/$org/flows/$flow" params={{ org, flow }} search={{ since, until, ...filter }}>
      {children}
    </Link>
  );
}

function TrailsByTime({ statistics }: { statistics: Statistics }) {
  const { buckets, trail_count } = statistics;
  const compliant = buckets.reduce((sum, one) => sum + one.compliant, 0);
  const unit = statistics.bucket === "day" ? "day" : "week";
  return (
    <Card title="Trails">
      <Bars
        label={`Trails by ${unit}`}
        unit={unit === "day" ? "Day" : "Week from"}
        caption={
          <>
            <Counted>
              {numberWords(trail_count)} {trail_count === 1 ? "trail" : "trails"}
            </Counted>{" "}
            began; <Counted filter={{ state: "COMPLIANT" }}>{percentOf(compliant, trail_count)}</Counted> of
            them comply now
          </>
        }
        series={series}
        bars={buckets.map((one) => ({
          name: dayOf(one.from),
          values: [one.compliant, one.non_compliant, one.incomplete],
        }))}
      />
    </Card>
  );
}

function TimeToCompliant({ statistics }: { statistics: Statistics }) {
  const { seconds_to_compliant: all, buckets } = statistics;
  const medians = buckets.map((one) => one.seconds_to_compliant.p50);
  const [unit, size] = unitFor(Math.max(0, ...medians.map((median) => median ?? 0)));
  return (
    <Card title="Time until compliant">
      <Bars
        label="Time until compliant"
        unit={statistics.bucket === "day" ? "Day" : "Week from"}
        caption={
          all.trail_count === 0
            ? "No trail of this time complies"
            : `Half of the compliant trails took ${took(all.p50)} or less, nine of ten ${took(all.p90)}`
        }
        series={[{ look: "other", words: `median, in ${unit}` }]}
        bars={buckets.map((one, index) => ({
          name: dayOf(one.from),
          values: [(medians[index] ?? 0) / size],
          written: [took(medians[index] ?? null)],
        }))}
      />
    </Card>
  );
}

function Evidence({ statistics }: { statistics: Statistics }) {
  const { attestations } = statistics;
  if (attestations.length === 0) return null;
  return (
    <Card title="Evidence">
      <Table
        label="Evidence by attestation"
        rows={attestations}
        rowKey={({ attestation_name }) => attestation_name}
        columns={[
          {
            key: "name",
            head: "Attestation",
            cell: ({ attestation_name }) => <strong>{attestation_name}</strong>,
          },
          { key: "reported", head: "Reported on", isNumber: true, cell: ({ reported }) => reported },
          {
            key: "failing",
            head: "Failing",
            isNumber: true,
            cell: ({ attestation_name, failing, reported }) =>
              failing === 0 ? (
                <Quiet>0</Quiet>
              ) : (
                <Counted filter={{ failing: attestation_name }}>
                  {failing} ({percentOf(failing, reported)})
                </Counted>
              ),
          },
          {
            key: "missing",
            head: "Missing",
            isNumber: true,
            cell: ({ attestation_name, missing }) =>
              missing === 0 ? (
                <Quiet>0</Quiet>
              ) : (
                <Counted filter={{ missing: attestation_name }}>
                  {missing} ({percentOf(missing, statistics.trail_count)})
                </Counted>
              ),
          },
        ]}
      />
    </Card>
  );
}

/** How the trails of a flow went: how many, how many of them comply, how fast, and which evidence fails or is missing. */
export function FlowStatistics() {
  const { org, flow } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const now = useNow();
  const query = useQuery(statisticsQuery(org, flow, search, now));
  return (
    <>
      <FlowHead org={org} flow={flow} current="/$org/flows/$flow/statistics" asOf={search.until ?? now} />
      <FilterBar>
        <Choice
          label="Period"
          all="last 30 days"
          value={search.period === "30d" ? undefined : search.period}
          choices={periodChoices.filter(([period]) => period !== "30d")}
          onChoose={(period) => void navigate({ search: (before) => ({ ...before, period }) })}
        />
      </FilterBar>
      <Loaded query={query}>
        {(statistics) => (
          <Stack>
            {statistics.truncated ? (
              <Note>Only the newest 10,000 trails of this time were counted.</Note>
            ) : null}
            <TrailsByTime statistics={statistics} />
            <TimeToCompliant statistics={statistics} />
            <Evidence statistics={statistics} />
          </Stack>
        )}
      </Loaded>
    </>
  );
}
