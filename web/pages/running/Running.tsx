import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";

import { pageOfData } from "../../api/page.ts";
import { ExportMenu } from "../../parts/ExportMenu.tsx";
import { PagedList } from "../../parts/PagedList.tsx";
import { PageHead } from "../../shell/PageHead.tsx";
import { buttonClass } from "../../ui/Button.tsx";
import { Empty, NoMatch } from "../../ui/Empty.tsx";
import { runningExport } from "./exports.ts";
import { Filters } from "./Filters.tsx";
import { Groups } from "./Groups.tsx";
import { runningQuery, type RunningSearch } from "./queries.ts";
import { RunningTable } from "./RunningTable.tsx";

const route = getRouteApi("/$org/running");

const arrangements = new Set(["group", "sort", "sort_direction", "page"]);

/** Says whether the address leaves anything out. */
function isFiltered(search: RunningSearch): boolean {
  return Object.entries(search).some(([name, value]) => value !== undefined && !arrangements.has(name));
}

function Nothing() {
  const { org } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  if (isFiltered(search))
    return (
      <NoMatch
        title="Nothing that runs matches"
        text="No running artifact is as the filters say."
        onClear={() => void navigate({ search: { group: search.group } })}
      />
    );
  return (
    <Empty title="Nothing is known to run" text="What runs is told by the reporters of environments.">
      <p>
        <Link to="/$org/environments" params={{ org }} className={buttonClass("primary")}>
          To the environments
        </Link>
      </p>
    </Empty>
  );
}

/** What runs in all environments, a row for each artifact in each; or by artifact, which shows where versions differ. */
export function Running() {
  const { org } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery(runningQuery(org, search));
  const { data } = query;
  const page = data === undefined ? undefined : pageOfData(data);
  return (
    <>
      <PageHead title="What runs" actions={<ExportMenu list={runningExport(org, search)} />} />
      <Filters isReady={page !== undefined} />
      <PagedList
        query={query}
        page={page}
        empty={<Nothing />}
        onPage={(number) => void navigate({ search: (before) => ({ ...before, page: number }) })}
      >
        {(rows, isOld) =>
          search.group === "artifact" ? (
            <Groups org={org} rows={rows} isOld={isOld} />
          ) : (
            <RunningTable rows={rows} isOld={isOld} />
          )
        }
      </PagedList>
    </>
  );
}
