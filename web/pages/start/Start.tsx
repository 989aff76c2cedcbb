import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";

import { FailedToRead } from "../../parts/Loaded.tsx";
import { PageHead } from "../../shell/PageHead.tsx";
import { buttonClass } from "../../ui/Button.tsx";
import { Card } from "../../ui/Layout.tsx";
import { Note } from "../../ui/Note.tsx";
import { Attention } from "./Attention.tsx";
import { FirstSteps } from "./FirstSteps.tsx";
import { History } from "./History.tsx";
import { Latest } from "./Latest.tsx";
import { type Overview, overviewQuery } from "./queries.ts";
import styles from "./Start.module.css";
import { Tiles } from "./Tiles.tsx";

const route = getRouteApi("/$org/");

/** Says whether there is nothing to look over yet: no reporter has told what runs. */
function isNew({ environments, running }: Overview): boolean {
  return environments.total === environments.never_reported && running.artifacts === 0;
}

/** What an organization has, what needs somebody in it, what changed. */
function Everything({ org, overview }: { org: string; overview: Overview | undefined }) {
  const judged = (overview?.environments.compliant ?? 0) + (overview?.environments.non_compliant ?? 0);
  return (
    <>
      <Tiles org={org} overview={overview} />
      {overview === undefined || judged > 0 ? null : (
        <div className={styles["note"]}>
          <Note>
            No policy judges what runs yet.{" "}
            <Link to="/$org" params={{ org }} search={{ show: "steps" }}>
              The first steps
            </Link>{" "}
            tell how to attach one.
          </Note>
        </div>
      )}
      <div className={styles["two"]}>
        <Attention org={org} items={overview?.attention} />
        <Latest org={org} />
      </div>
      <History org={org} />
    </>
  );
}

/** Holds the room of everything; what is not asked for yet may be first steps instead. */
function Room({ org }: { org: string }) {
  return (
    <>
      <Tiles org={org} overview={undefined} />
      <div className={styles["two"]}>
        <Attention org={org} items={undefined} />
        <Card title="Latest changes">
          <div className={styles["room"]} aria-busy="true" />
        </Card>
      </div>
      <Card title="Compliance in 30 days">
        <div className={styles["historyRoom"]} aria-busy="true" />
      </Card>
    </>
  );
}

/** The first page of an organization: its numbers, or the first steps where there is nothing to count. */
export function Start() {
  const { org } = route.useParams();
  const { show } = route.useSearch();
  const query = useQuery(overviewQuery(org));
  const { data, error } = query;
  // Who has begun with the steps stays with them, also when the last of them make numbers.
  const [begun, begin] = useState<string>();
  if (data !== undefined && isNew(data) && begun !== org) begin(org);
  const isSteps = show === "steps" || (show === undefined && begun === org);
  if (data === undefined && error !== null)
    return (
      <>
        <PageHead title="Start" />
        <FailedToRead error={error} retry={() => void query.refetch()} />
      </>
    );
  if (isSteps)
    return (
      <>
        <PageHead
          title="First steps"
          actions={
            <Link to="/$org" params={{ org }} search={{ show: "overview" }} className={buttonClass()}>
              Show the overview
            </Link>
          }
        />
        <FirstSteps org={org} />
      </>
    );
  return (
    <>
      <PageHead title="Start" />
      {data === undefined ? <Room org={org} /> : <Everything org={org} overview={data} />}
    </>
  );
}
