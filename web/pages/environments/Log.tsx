import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";

import { pageOfArray } from "../../api/page.ts";
import { listPeriodChoices } from "../../domain/periods.ts";
import { EventTable } from "../../parts/EventTable.tsx";
import { ExportMenu } from "../../parts/ExportMenu.tsx";
import { PagedList } from "../../parts/PagedList.tsx";
import { Empty, NoMatch } from "../../ui/Empty.tsx";
import { Choice, FilterBar } from "../../ui/Field.tsx";
import { useNow } from "../../ui/Time.tsx";
import { EnvironmentPage } from "./EnvironmentHead.tsx";
import { logExport } from "./exports.ts";
import { eventsPerPage, eventsQuery, reposQuery } from "./queries.ts";

const route = getRouteApi("/$org/environments/$env/log");

function Filters() {
  const { org } = route.useParams();
  const { repo, since } = route.useSearch();
  const navigate = route.useNavigate();
  const { data } = useQuery(reposQuery(org));
  const names = (data?.repos ?? []).map(({ name }) => name);
  const choices = repo === undefined || names.includes(repo) ? names : [repo, ...names];
  return (
    <FilterBar>
      <Choice
        label="Time"
        value={since}
        choices={listPeriodChoices}
        onChoose={(chosen) =>
          void navigate({ search: (before) => ({ ...before, since: chosen, page: undefined }) })
        }
      />
      <Choice
        label="Repo"
        value={repo}
        choices={choices.map((name) => [name, name])}
        onChoose={(chosen) =>
          void navigate({ search: (before) => ({ ...before, repo: chosen, page: undefined }) })
        }
      />
    </FilterBar>
  );
}

function NoEvents() {
  const { repo, since } = route.useSearch();
  const navigate = route.useNavigate();
  if (repo === undefined && since === undefined)
    return (
      <Empty title="Nothing has happened yet" text="What starts, changes and exits here will stand here." />
    );
  return (
    <NoMatch
      title="Nothing happened"
      text="Nothing started, changed or exited that is as the filters say."
      onClear={() => void navigate({ search: {} })}
    />
  );
}

/** The log of an environment: what started, changed and exited. */
export function Log() {
  const { org, env } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const now = useNow(60_000);
  const query = useQuery(eventsQuery(org, env, search, now));
  const { data } = query;
  const page =
    data === undefined
      ? undefined
      : pageOfArray(data.data, { page: search.page ?? 1, per_page: eventsPerPage }, data.headers);
  return (
    <EnvironmentPage
      org={org}
      env={env}
      current="/$org/environments/$env/log"
      asOf={search.until ?? now}
      actions={<ExportMenu list={logExport(org, env, search, now)} />}
    >
      <Filters />
      <PagedList
        query={query}
        page={page}
        empty={<NoEvents />}
        onPage={(number) => void navigate({ search: (before) => ({ ...before, page: number }) })}
      >
        {(rows, isOld) => <EventTable org={org} events={rows} isOld={isOld} />}
      </PagedList>
    </EnvironmentPage>
  );
}
