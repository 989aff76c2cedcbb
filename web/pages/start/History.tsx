import { useQuery } from "@tanstack/react-query";

import { dayOf, historyWords, percent } from "../../domain/compliance-history.ts";
import { Loaded } from "../../parts/Loaded.tsx";
import type { Series } from "../../ui/charts/looks.tsx";
import { StackedBars } from "../../ui/charts/StackedBars.tsx";
import { Card } from "../../ui/Layout.tsx";
import { historyQuery } from "./queries.ts";
import styles from "./Start.module.css";

const series: readonly Series[] = [
  { words: "Compliant", look: "good" },
  { words: "Non-compliant", look: "bad" },
  { words: "Unknown", look: "other" },
  { words: "Silent", look: "silent" },
];

/** For how long the environments were compliant, on each of 30 days. */
export function History({ org }: { org: string }) {
  const query = useQuery(historyQuery(org));
  return (
    <Card title="Compliance in 30 days">
      <Loaded query={query} waiting={<div className={styles["historyRoom"]} aria-busy="true" />}>
        {({ buckets }) => (
          <StackedBars
            label="Compliance by day"
            unit="Day (UTC)"
            series={series}
            bars={buckets.map(({ from, compliant, non_compliant, unknown, silent }) => ({
              name: dayOf(from),
              values: [compliant, non_compliant, unknown, silent],
            }))}
            caption={historyWords(buckets)}
            format={(value, whole) => (whole === 0 ? "–" : percent(value / whole))}
          />
        )}
      </Loaded>
    </Card>
  );
}
