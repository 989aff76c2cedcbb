import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import type { AnswerOf } from "../../api/contract.ts";
import { numberWords } from "../../domain/numbers.ts";
import { Fingerprint } from "../../parts/Fingerprint.tsx";
import { Loaded } from "../../parts/Loaded.tsx";
import { PageLink } from "../../parts/PageLink.tsx";
import { ArtifactLink } from "../../parts/ProcessLinks.tsx";
import { VerdictMark } from "../../parts/Verdict.tsx";
import { Card, Quiet, Stack, Wrapping } from "../../ui/Layout.tsx";
import { type Column, Table } from "../../ui/Table.tsx";
import styles from "./Policies.module.css";
import { failingLookedAt, failingQuery, type Policy } from "./queries.ts";

type Running = AnswerOf<"GET /running/{org}">["data"][number];

/** Most environments that one request asks about. */
const mostEnvironments = 50;

function columnsFor(org: string, policy: string): Column<Running>[] {
  return [
    {
      key: "artifact",
      head: "Artifact",
      cell: ({ artifact_name, fingerprint, html_url }) => (
        <Wrapping>
          {html_url === null ? (
            <ArtifactLink org={org} flow="" fingerprint={fingerprint} name={artifact_name} />
          ) : (
            <PageLink address={html_url}>{artifact_name}</PageLink>
          )}
          <div>
            <Fingerprint value={fingerprint} />
          </div>
        </Wrapping>
      ),
    },
    {
      key: "environment",
      head: "Environment",
      cell: ({ environment_name }) => (
        <Link
          to="/$org/environments/$env"
          params={{ org, env: environment_name }}
          search={{ verdict: "non-compliant" }}
        >
          {environment_name}
        </Link>
      ),
    },
    {
      key: "why",
      head: "Why",
      cell: ({ reasons }) => (
        <ul className={styles["reasons"]}>
          {reasons
            .filter(({ policy_name }) => policy_name === policy)
            .map(({ rule, message }) => (
              <li key={`${rule} ${message}`}>{message}</li>
            ))}
        </ul>
      ),
    },
  ];
}

function Failing({
  org,
  policy,
  answer: { data, pagination },
}: {
  org: string;
  policy: Policy;
  answer: AnswerOf<"GET /running/{org}">;
}) {
  const isPart = policy.consuming_envs.length > mostEnvironments;
  const failing = data.filter(({ reasons }) =>
    reasons.some(({ policy_name }) => policy_name === policy.name),
  );
  const among = isPart
    ? ` in the first ${mostEnvironments} of ${policy.consuming_envs.length} environments`
    : "";
  const looked = Math.min(failingLookedAt, pagination.total);
  if (failing.length === 0)
    return (
      <Card>
        {isPart || looked < pagination.total ? (
          <span>
            None of the {numberWords(looked)} failing artifacts that were looked at fails it, out of{" "}
            {numberWords(pagination.total)}
            {among}.
          </span>
        ) : (
          <VerdictMark verdict="compliant" words="Nothing that runs fails it" />
        )}
      </Card>
    );
  return (
    <>
      <Table
        label="What fails"
        columns={columnsFor(org, policy.name)}
        rows={failing}
        rowKey={({ environment_name, artifact_name, fingerprint }) =>
          `${environment_name} ${artifact_name} ${fingerprint}`
        }
      />
      {isPart || looked < pagination.total ? (
        <Quiet isSmall>
          Out of the first {numberWords(looked)} failing artifacts{among}.
        </Quiet>
      ) : null}
    </>
  );
}

/** What runs and does not do what a policy asks. */
export function PolicyFailures({ org, policy }: { org: string; policy: Policy }) {
  const environments = policy.consuming_envs.slice(0, mostEnvironments);
  const query = useQuery({ ...failingQuery(org, environments), enabled: environments.length > 0 });
  if (environments.length === 0) return null;
  const columns = columnsFor(org, policy.name);
  return (
    <Stack>
      <h2>What fails it now</h2>
      <Loaded
        query={query}
        waiting={<Table label="What fails" columns={columns} rows={undefined} rowKey={() => ""} />}
      >
        {(answer) => <Failing org={org} policy={policy} answer={answer} />}
      </Loaded>
    </Stack>
  );
}
