import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Fragment, type ReactNode } from "react";

import { verdictOfFlag } from "../../domain/verdict.ts";
import { ApiError } from "../../api/errors.ts";
import { environmentTypeWords } from "../../parts/environments.ts";
import { FailedToRead } from "../../parts/Loaded.tsx";
import { usePresentName } from "../../parts/present-name.ts";
import { VerdictMark } from "../../parts/Verdict.tsx";
import { Crumb, PageHead } from "../../shell/PageHead.tsx";
import { Tag } from "../../ui/Layout.tsx";
import { Time } from "../../ui/Time.tsx";
import styles from "./Environments.module.css";
import { type Environment, environmentQuery } from "./queries.ts";

const tabs = [
  ["/$org/environments/$env", "What runs"],
  ["/$org/environments/$env/snapshots", "Timeline"],
  ["/$org/environments/$env/log", "Log"],
  ["/$org/environments/$env/deployments", "Deployments"],
  ["/$org/environments/$env/allow-list", "Allow-list"],
  ["/$org/environments/$env/settings", "Settings"],
] as const;

type EnvironmentTab = (typeof tabs)[number][0];

function Policies({ org, policies }: { org: string; policies: readonly string[] }) {
  if (policies.length === 0) return <span>no policy</span>;
  return (
    <span>
      judged by{" "}
      {policies.map((policy, index) => (
        <Fragment key={policy}>
          {index === 0 ? "" : ", "}
          <Link to="/$org/policies/$policy" params={{ org, policy }}>
            {policy}
          </Link>
        </Fragment>
      ))}
    </span>
  );
}

function About({ environment }: { environment: Environment }) {
  const { org, type, archived_at, last_reported_at, last_changed_at, policies, tags } = environment;
  return (
    <>
      <span>{environmentTypeWords[type]}</span>
      {archived_at === null || archived_at === undefined ? null : (
        <Tag>
          archived <Time at={archived_at} />
        </Tag>
      )}
      {type === "logical" ? null : (
        <span>
          reported <Time at={last_reported_at} />
        </span>
      )}
      <span>
        changed <Time at={last_changed_at} />
      </span>
      <Policies org={org} policies={policies ?? []} />
      {Object.entries(tags).map(([key, value]) => (
        <Link
          key={key}
          to="/$org/environments"
          params={{ org }}
          search={{ tag: value === "" ? key : `${key}:${value}` }}
          title="Environments with this tag"
        >
          <Tag>{value === "" ? key : `${key}: ${value}`}</Tag>
        </Link>
      ))}
    </>
  );
}

interface EnvironmentHeadProps {
  org: string;
  env: string;
  current: EnvironmentTab;
  actions?: ReactNode;
  tools?: ReactNode;
  /** Path that shows the same tomorrow. */
  permanent?: string | undefined;
  /** When what is shown was so, in Unix seconds. */
  asOf?: number;
}

/** The head of all pages of an environment, with its parts as tabs. */
function EnvironmentHead({ org, env, current, ...head }: EnvironmentHeadProps) {
  const { data } = useQuery(environmentQuery(org, env));
  return (
    <PageHead
      title={env}
      crumbs={
        <Crumb>
          <Link to="/$org/environments" params={{ org }}>
            Environments
          </Link>
        </Crumb>
      }
      verdict={data === undefined ? null : <VerdictMark verdict={verdictOfFlag(data.state)} isPill />}
      about={data === undefined ? <span className={styles["aboutRoom"]} /> : <About environment={data} />}
      {...head}
      tabs={tabs.map(([to, words]) => (
        <Link
          key={to}
          to={to}
          params={{ org, env }}
          activeOptions={{ exact: true, includeSearch: false }}
          aria-current={to === current ? "page" : undefined}
        >
          {words}
        </Link>
      ))}
    />
  );
}

/** A page of an environment: its head, and one of its parts, unless there is no such environment or it is closed to the caller. */
export function EnvironmentPage({ children, ...head }: EnvironmentHeadProps & { children: ReactNode }) {
  const query = useQuery(environmentQuery(head.org, head.env));
  usePresentName("env", query);
  const { data, error } = query;
  const isClosed = data === undefined && error instanceof ApiError && [401, 403, 404].includes(error.status);
  return (
    <>
      <EnvironmentHead {...head} actions={isClosed ? undefined : head.actions} />
      {isClosed ? <FailedToRead error={error} retry={() => void query.refetch()} /> : children}
    </>
  );
}
