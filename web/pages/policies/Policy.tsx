import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";

import { useRefusal } from "../../api/account.ts";
import { Loaded } from "../../parts/Loaded.tsx";
import { Crumb, PageHead } from "../../shell/PageHead.tsx";
import { Button, buttonClass } from "../../ui/Button.tsx";
import { CodeBlock } from "../../ui/Copy.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { Card, Quiet, Split, Stack } from "../../ui/Layout.tsx";
import { Time } from "../../ui/Time.tsx";
import { Waiting } from "../../ui/Waiting.tsx";
import { AttachDialog, PolicyEnvironments } from "./PolicyEnvironments.tsx";
import { PolicyFailures } from "./PolicyFailures.tsx";
import { PolicyVersions } from "./PolicyVersions.tsx";
import { type Policy as PolicyAnswer, policyQuery } from "./queries.ts";

const route = getRouteApi("/$org/policies/$policy");

function Actions({ policy }: { policy: PolicyAnswer | undefined }) {
  const { org, policy: name } = route.useParams();
  const [isAttaching, attach] = useState(false);
  const mayNotAttach = useRefusal(org, "POST /environments/{org}/{env_name}/policies");
  const mayNotWrite = useRefusal(org, "PUT /policies/{org}");
  return (
    <>
      <Button
        icon="environments"
        refused={mayNotAttach ?? (policy === undefined ? "The policy is not there" : undefined)}
        onClick={() => attach(true)}
      >
        Attach
      </Button>
      <Link
        to="/$org/policies/$policy/edit"
        params={{ org, policy: name }}
        className={buttonClass(mayNotWrite === undefined ? "primary" : "plain")}
      >
        <Icon name="edit" />
        Edit
      </Link>
      {isAttaching && policy !== undefined ? (
        <AttachDialog org={org} policy={policy} onClose={() => attach(false)} />
      ) : null}
    </>
  );
}

function About({ policy }: { policy: PolicyAnswer }) {
  const { description, versions, last_modified_at, created_by, created_at } = policy;
  const latest = versions.at(-1);
  return (
    <>
      {description === "" ? null : <span>{description}</span>}
      <span>
        version {latest?.version ?? 0}, changed <Time at={last_modified_at} />
        {latest === undefined ? "" : ` by ${latest.created_by}`}
      </span>
      <Quiet>
        made <Time at={created_at} /> by {created_by}
      </Quiet>
    </>
  );
}

function Overview({ org, policy }: { org: string; policy: PolicyAnswer }) {
  const latest = policy.versions.at(-1);
  return (
    <Stack>
      <Split>
        <Card title="What it says">
          {latest === undefined ? (
            <Quiet>It has no text yet.</Quiet>
          ) : (
            <CodeBlock text={latest.policy_yaml} label="text of the policy" />
          )}
        </Card>
        <PolicyEnvironments />
      </Split>
      <PolicyFailures org={org} policy={policy} />
    </Stack>
  );
}

/** A policy: what it says, whom it judges, what fails it, and how it came to be. */
export function Policy() {
  const { org, policy: name } = route.useParams();
  const { tab } = route.useSearch();
  const query = useQuery(policyQuery(org, name));
  const parts = [
    [undefined, "Overview"],
    ["versions", `Versions${query.data === undefined ? "" : ` ${query.data.versions.length}`}`],
  ] as const;
  return (
    <>
      <PageHead
        title={name}
        crumbs={
          <Crumb>
            <Link to="/$org/policies" params={{ org }}>
              Policies
            </Link>
          </Crumb>
        }
        about={query.data === undefined ? <span>&nbsp;</span> : <About policy={query.data} />}
        actions={<Actions policy={query.data} />}
        tabs={parts.map(([part, words]) => (
          <Link
            key={words}
            to="/$org/policies/$policy"
            params={{ org, policy: name }}
            search={{ tab: part }}
            activeOptions={{ exact: true }}
            aria-current={part === tab ? "page" : undefined}
          >
            {words}
          </Link>
        ))}
      />
      <Loaded query={query} waiting={<Waiting size="medium" />}>
        {(policy) =>
          tab === "versions" ? <PolicyVersions policy={policy} /> : <Overview org={org} policy={policy} />
        }
      </Loaded>
    </>
  );
}
