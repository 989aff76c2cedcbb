import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import { eventWords } from "../../domain/events.ts";
import { Loaded } from "../../parts/Loaded.tsx";
import { PageLink } from "../../parts/PageLink.tsx";
import { Card, Quiet } from "../../ui/Layout.tsx";
import { Time } from "../../ui/Time.tsx";
import { type Event, latestQuery } from "./queries.ts";
import styles from "./Start.module.css";

function Line({ org, event }: { org: string; event: Event }) {
  const { environment_name: env, snapshot_index, artifact_name, type, reported_at, _links } = event;
  return (
    <li className={styles["event"]}>
      <PageLink address={_links.artifact?.html} className={styles["artifact"]}>
        {artifact_name}
      </PageLink>
      <span className={styles["what"]}>
        {eventWords(type)} in{" "}
        <Link
          to="/$org/environments/$env/snapshots/$expression"
          params={{ org, env, expression: String(snapshot_index) }}
        >
          {env}
        </Link>
      </span>
      <Quiet isSmall>
        <Time at={reported_at} />
      </Quiet>
    </li>
  );
}

/** What changed last, of a day. */
export function Latest({ org }: { org: string }) {
  const query = useQuery(latestQuery(org));
  const total = query.data?.pagination.total ?? 0;
  return (
    <Card
      title="Latest changes"
      aside={
        <Link to="/$org/changes" params={{ org }}>
          {total === 0 ? "All changes" : `All ${total} of 24 hours`}
        </Link>
      }
    >
      <Loaded query={query} waiting={<div className={styles["room"]} aria-busy="true" />}>
        {({ data }) =>
          data.length === 0 ? (
            <p className={styles["well"]}>Nothing changed in the last 24 hours.</p>
          ) : (
            <ul className={styles["list"]}>
              {data.map((event) => (
                <Line
                  key={`${event.environment_name} ${event.snapshot_index} ${event.artifact_name} ${event.sha256} ${event.type}`}
                  org={org}
                  event={event}
                />
              ))}
            </ul>
          )
        }
      </Loaded>
    </Card>
  );
}
