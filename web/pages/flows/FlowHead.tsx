import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

import { ForeignLink } from "../../parts/ForeignLink.tsx";
import { usePresentName } from "../../parts/present-name.ts";
import { Crumb, PageHead } from "../../shell/PageHead.tsx";
import { Tag } from "../../ui/Layout.tsx";
import { type Flow, flowQuery } from "./queries.ts";

const tabs = [
  ["/$org/flows/$flow", "Trails"],
  ["/$org/flows/$flow/artifacts", "Artifacts"],
  ["/$org/flows/$flow/template", "Template"],
  ["/$org/flows/$flow/statistics", "Statistics"],
  ["/$org/flows/$flow/settings", "Settings"],
] as const;

type FlowTab = (typeof tabs)[number][0];

const isSame = (a: string, b: string): boolean => a === b;

function About({ org, flow }: { org: string; flow: Flow }) {
  const { description, repo_url, tags, visibility } = flow;
  return (
    <>
      {description === "" ? null : <span>{description}</span>}
      {visibility === "public" ? <Tag>public</Tag> : null}
      {repo_url === "" ? null : <ForeignLink address={repo_url} />}
      {Object.entries(tags).map(([key, value]) => (
        <Link
          key={key}
          to="/$org/flows"
          params={{ org }}
          search={{ tag: value === "" ? key : `${key}:${value}` }}
        >
          <Tag>{value === "" ? key : `${key}: ${value}`}</Tag>
        </Link>
      ))}
    </>
  );
}

interface FlowHeadProps {
  org: string;
  flow: string;
  current: FlowTab;
  actions?: ReactNode;
  /** When what is shown was so, in Unix seconds. */
  asOf?: number;
}

/** The head of all pages of a flow, with its parts as tabs. */
export function FlowHead({ org, flow, current, ...head }: FlowHeadProps) {
  const query = useQuery(flowQuery(org, flow));
  const { data } = query;
  usePresentName("flow", query);
  return (
    <PageHead
      title={flow}
      crumbs={
        <Crumb>
          <Link to="/$org/flows" params={{ org }}>
            Flows
          </Link>
        </Crumb>
      }
      about={data === undefined ? <span>&nbsp;</span> : <About org={org} flow={data} />}
      {...head}
      tabs={tabs.map(([to, words]) => (
        <Link
          key={to}
          to={to}
          params={{ org, flow }}
          activeOptions={{ exact: true, includeSearch: false }}
          aria-current={isSame(to, current) ? "page" : undefined}
        >
          {words}
        </Link>
      ))}
    />
  );
}
