import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useCallback } from "react";

import type { AnswerOf } from "../../api/contract.ts";
import { pageOfHead } from "../../api/page.ts";
import { PagedList } from "../../parts/PagedList.tsx";
import { environmentTypeWords } from "../../parts/environments.ts";
import { VerdictMark } from "../../parts/Verdict.tsx";
import { Empty, NoMatch } from "../../ui/Empty.tsx";
import { Choice, FilterBar, SearchField } from "../../ui/Field.tsx";
import { Quiet } from "../../ui/Layout.tsx";
import { type Column, Table } from "../../ui/Table.tsx";
import styles from "./Controls.module.css";
import { coverageQuery } from "./tab-queries.ts";

const route = getRouteApi("/$org/controls/$control");
type Answer = AnswerOf<"GET /controls/{org}/{identifier}/coverage">;
type Covered = Answer["environments"][number];

function columnsFor(org: string): Column<Covered>[] {
  return [
    {
      key: "name",
      head: "Environment",
      cell: ({ name, type }) => (
        <>
          <Link to="/$org/environments/$env" params={{ org, env: name }}>
            <strong>{name}</strong>
          </Link>
          <div>
            <Quiet isSmall>{environmentTypeWords[type]}</Quiet>
          </div>
        </>
      ),
    },
    {
      key: "covered",
      head: "Enforced",
      width: "150px",
      cell: ({ covered }) => (
        <VerdictMark
          verdict={covered ? "compliant" : "missing"}
          words={covered ? "Enforced" : "Not enforced"}
        />
      ),
    },
    {
      key: "policies",
      head: "By policy",
      cell: ({ policies }) =>
        policies.length === 0 ? (
          <Quiet>none</Quiet>
        ) : (
          <span className={styles["links"]}>
            {policies.map((policy) => (
              <Link key={policy} to="/$org/policies/$policy" params={{ org, policy }}>
                {policy}
              </Link>
            ))}
          </span>
        ),
    },
  ];
}

/** Says how many environments enforce it, as a number that leads to them, and as a bar. */
function Share({ answer: { covered, total, coverage_percent } }: { answer: Answer }) {
  const { org, control } = route.useParams();
  return (
    <div className={styles["share"]}>
      <p>
        <strong>{coverage_percent} %</strong> of environments enforce it:{" "}
        <Link
          to="/$org/controls/$control"
          params={{ org, control }}
          search={{ tab: "coverage", covered: "yes" }}
        >
          {covered} do
        </Link>
        ,{" "}
        <Link
          to="/$org/controls/$control"
          params={{ org, control }}
          search={{ tab: "coverage", covered: "no" }}
        >
          {total - covered} do not
        </Link>
        .
      </p>
      <meter min={0} max={100} value={coverage_percent} aria-label="Share of environments that enforce it" />
    </div>
  );
}

const choices = [
  ["yes", "Enforced"],
  ["no", "Not enforced"],
] as const;

function Filters() {
  const { covered, search = "" } = route.useSearch();
  const navigate = route.useNavigate();
  const find = useCallback(
    (text: string) =>
      void navigate({
        search: (before) => ({ ...before, search: text === "" ? undefined : text, page: undefined }),
        replace: true,
      }),
    [navigate],
  );
  return (
    <FilterBar>
      <SearchField label="Filter by environment" value={search} onSearch={find} />
      <Choice
        label="Enforced"
        value={covered}
        choices={choices}
        onChoose={(chosen) =>
          void navigate({ search: (before) => ({ ...before, covered: chosen, page: undefined }) })
        }
      />
    </FilterBar>
  );
}

const about = "An environment enforces a control when a policy attached to it asks for decisions on it.";

/** The environments that enforce a control, and those that do not. */
export function Coverage() {
  const { org, control } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery(coverageQuery(org, control, search));
  const { data } = query;
  const page = data === undefined ? undefined : pageOfHead(data, data.environments);
  const isFiltered = search.covered !== undefined || search.search !== undefined;
  return (
    <>
      {data === undefined ? null : (
        <div>
          <Share answer={data} />
        </div>
      )}
      <Filters />
      <PagedList
        query={query}
        page={page}
        empty={
          isFiltered ? (
            <NoMatch
              title="No environment matches"
              text={about}
              onClear={() => void navigate({ search: { tab: "coverage" } })}
            />
          ) : (
            <Empty title="No environments yet" text={about} />
          )
        }
        onPage={(number) => void navigate({ search: (before) => ({ ...before, page: number }) })}
      >
        {(rows, isOld) => (
          <Table
            label="Coverage"
            columns={columnsFor(org)}
            rows={rows}
            rowKey={({ name }) => name}
            isOld={isOld}
          />
        )}
      </PagedList>
    </>
  );
}
