import { Link } from "@tanstack/react-router";
import { useState } from "react";

import { numberWords } from "../../domain/numbers.ts";
import { tellEvent } from "../../domain/trail-story.ts";
import { VerdictMark } from "../../parts/Verdict.tsx";
import { Button } from "../../ui/Button.tsx";
import { Card } from "../../ui/Layout.tsx";
import { Time } from "../../ui/Time.tsx";
import type { Trail, TrailPlace } from "./queries.ts";
import styles from "./Trails.module.css";

type TrailEvent = Trail["events"][number];

/** How many events are shown at first: the latest. */
const shownAtFirst = 50;

function Event({ place, event }: { place: TrailPlace; event: TrailEvent }) {
  const { words, verdict, attestation_id, snapshot } = tellEvent(event);
  return (
    <li data-verdict={verdict}>
      <span>
        {attestation_id === undefined ? (
          words
        ) : (
          <Link
            to="/$org/flows/$flow/trails/$trail"
            params={place}
            search={{ attestation_id }}
            resetScroll={false}
          >
            {words}
          </Link>
        )}
        {snapshot === undefined ? null : (
          <>
            {", "}
            <Link
              to="/$org/environments/$env/snapshots/$expression"
              params={{
                org: place.org,
                env: snapshot.environment_name,
                expression: String(snapshot.snapshot_index),
              }}
            >
              snapshot {snapshot.snapshot_index}
            </Link>
          </>
        )}
      </span>
      {verdict === undefined ? null : <VerdictMark verdict={verdict} isBare />}
      <Time at={event.timestamp} />
    </li>
  );
}

/** What happened to a trail, the latest first. */
export function TrailEvents({ place, events }: { place: TrailPlace; events: readonly TrailEvent[] }) {
  const [isWhole, setWhole] = useState(false);
  const latest = events.toReversed();
  const shown = isWhole ? latest : latest.slice(0, shownAtFirst);
  return (
    <Card title="What happened">
      <ol className={styles["events"]}>
        {shown.map((event, index) => (
          <Event
            key={`${event.timestamp} ${event.type} ${latest.length - index}`}
            place={place}
            event={event}
          />
        ))}
      </ol>
      {shown.length === latest.length ? null : (
        <Button onClick={() => setWhole(true)}>Show all {numberWords(latest.length)}</Button>
      )}
    </Card>
  );
}
