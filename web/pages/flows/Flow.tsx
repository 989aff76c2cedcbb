import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useCallback } from "react";

import { pageOfData } from "../../api/page.ts";
import { commandPlace } from "../../api/place.ts";
import { trailCommand } from "../../domain/commands.ts";
import { isNarrowed, type TrailSearch } from "../../domain/trail-search.ts";
import { Commands } from "../../parts/Commands.tsx";
import { ExportMenu } from "../../parts/ExportMenu.tsx";
import { FailedToRead } from "../../parts/Loaded.tsx";
import { NoTrailMatches, SearchedUntil, TrailFilters } from "../../parts/TrailFilters.tsx";
import { isMatrixTrail, type MatrixTrail, TrailMatrix } from "../../parts/TrailMatrix.tsx";
import { Empty } from "../../ui/Empty.tsx";
import { Stack } from "../../ui/Layout.tsx";
import { Pager } from "../../ui/Pager.tsx";
import { Table } from "../../ui/Table.tsx";
import { useNow } from "../../ui/Time.tsx";
import { flowTrailsExport } from "./exports.ts";
import { FlowHead } from "./FlowHead.tsx";
import { matrixQuery } from "./queries.ts";

const route = getRouteApi("/$org/flows/$flow");

function useSearching() {
  const navigate = route.useNavigate();
  return useCallback(
    (change: TrailSearch, replace = false) =>
      void navigate({ search: (before) => ({ ...before, ...change }), replace, resetScroll: false }),
    [navigate],
  );
}

function NoTrails({ isCut }: { isCut: boolean }) {
  const { org, flow } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  if (isNarrowed(search))
    return (
      <NoTrailMatches
        search={search}
        whose="this flow's"
        isCut={isCut}
        onClear={() => void navigate({ search: {} })}
      />
    );
  return (
    <Empty
      title="No trails yet"
      text="A trail is one run of this flow: it begins when a pipeline says so, or with the first report to it."
    >
      <Commands
        command={trailCommand(commandPlace(org), flow, "build-1")}
        label="command that begins a trail"
      />
    </Empty>
  );
}

function useTrails() {
  const { org, flow } = route.useParams();
  const now = useNow();
  const query = useQuery(matrixQuery(org, flow, route.useSearch(), now));
  const answer = query.data === undefined || Array.isArray(query.data) ? undefined : query.data;
  return { query, answer, now };
}

/** The trails of a flow, and which evidence each of them has. */
export function Flow() {
  const { org, flow } = route.useParams();
  const search = route.useSearch();
  const onSearch = useSearching();
  const { query, answer, now } = useTrails();
  const { error } = query;
  if (error !== null && answer === undefined)
    return (
      <>
        <FlowHead org={org} flow={flow} current="/$org/flows/$flow" />
        <FailedToRead error={error} retry={() => void query.refetch()} />
      </>
    );
  const page = answer === undefined ? undefined : pageOfData<MatrixTrail | object>(answer);
  const trails = page?.items.filter(isMatrixTrail);
  return (
    <>
      <FlowHead
        org={org}
        flow={flow}
        current="/$org/flows/$flow"
        asOf={search.until ?? now}
        actions={<ExportMenu list={flowTrailsExport(org, flow, search, now)} />}
      />
      <TrailFilters search={search} onSearch={onSearch} />
      <Stack>
        {trails === undefined ? (
          <Table label="Trails" columns={waitingColumns} rows={undefined} rowKey={String} />
        ) : trails.length === 0 ? (
          <NoTrails isCut={answer?.truncated === true} />
        ) : (
          <TrailMatrix
            label={`Trails of ${flow}`}
            trails={trails}
            isOld={query.isPlaceholderData}
            onFilter={(filter) =>
              onSearch({ failing: undefined, missing: undefined, ...filter, page: undefined })
            }
          />
        )}
        {answer === undefined ? null : <SearchedUntil search={search} answer={answer} onSearch={onSearch} />}
      </Stack>
      {page === undefined || page.total === 0 ? null : (
        <Pager {...page} count={page.items.length} onPage={(number) => onSearch({ page: number })} />
      )}
    </>
  );
}

/** Columns that hold the room of the matrix until it is known which it has. */
const waitingColumns = ["Trail", "Evidence", "Began"].map((head) => ({
  key: head,
  head,
  cell: () => null,
}));
