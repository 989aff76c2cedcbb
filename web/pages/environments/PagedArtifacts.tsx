import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import type { AnswerOf } from "../../api/contract.ts";
import { pageOfData } from "../../api/page.ts";
import { type RowChange, rowChanges, type RowCounts } from "../../domain/snapshot-rows.ts";
import { Loaded } from "../../parts/Loaded.tsx";
import { PagedList } from "../../parts/PagedList.tsx";
import { Fold, Quiet } from "../../ui/Layout.tsx";
import { useArtifactColumns } from "./ArtifactColumns.tsx";
import { ArtifactFilters } from "./ArtifactFilters.tsx";
import { ArtifactTable, belowRow, ExitedTable, type ListProps, NothingToShow } from "./ArtifactTable.tsx";
import { artifactsQuery, exitedQuery, mostExited } from "./queries.ts";
import { rowOfListed } from "./rows.ts";

type Answer = AnswerOf<"GET /snapshots/{org}/{env_name}/{snapshot_expression}/artifacts">;

function countsOf({ compliant, provenance, annotation }: Answer["counts"]): RowCounts {
  const of = (change: RowChange): number =>
    rowChanges[change].reduce((sum, type) => sum + annotation[type], 0);
  return {
    verdict: { compliant: compliant.true, "non-compliant": compliant.false, unknown: compliant.unknown },
    provenance,
    change: {
      started: of("started"),
      verdict: of("verdict"),
      changed: of("changed"),
      unchanged: of("unchanged"),
    },
  };
}

function Exited({ org, env, index }: Pick<ListProps, "org" | "env"> & { index: number }) {
  const query = useQuery(exitedQuery(org, env, index));
  return (
    <Loaded query={query} waiting={<ExitedTable org={org} rows={undefined} />}>
      {({ data, pagination }) => (
        <>
          <ExitedTable org={org} rows={data.map(rowOfListed)} />
          {pagination.total > mostExited ? (
            <Quiet isSmall>The first {mostExited} are shown; the log of the environment has all.</Quiet>
          ) : null}
        </>
      )}
    </Loaded>
  );
}

/** What exited with a large snapshot, read when it is wanted. */
function ExitedFold({ count, ...rest }: Pick<ListProps, "org" | "env"> & { index: number; count: number }) {
  const [isOpen, setOpen] = useState(false);
  if (count === 0) return null;
  return (
    <Fold title={`Exited with this snapshot (${count})`} onToggle={setOpen}>
      {isOpen ? <Exited {...rest} /> : null}
    </Fold>
  );
}

/** What runs in a large snapshot, which the server filters, sorts, and tells page by page. */
export function PagedArtifacts(props: ListProps & { index: number }) {
  const { org, env, index, search, onSearch } = props;
  const query = useQuery(artifactsQuery(org, env, index, search));
  const columns = useArtifactColumns({ org, search, onSearch, isPaged: true });
  const { data } = query;
  const page = data === undefined ? undefined : pageOfData(data);
  return (
    <>
      <ArtifactFilters
        counts={data === undefined ? undefined : countsOf(data.counts)}
        searched="Find by name or digest"
        search={search}
        onSearch={onSearch}
      />
      <h2 className="visually-hidden">What runs</h2>
      <PagedList
        query={query}
        page={page}
        empty={<NothingToShow isFiltered={(data?.counts.running ?? 0) > 0} onSearch={onSearch} />}
        onPage={(number) => onSearch({ page: number })}
      >
        {(rows, isOld) => (
          <ArtifactTable
            columns={columns}
            rows={rows?.map(rowOfListed)}
            below={belowRow(props, index)}
            isOld={isOld || props.isOld === true}
          />
        )}
      </PagedList>
      {data === undefined ? null : (
        <ExitedFold org={org} env={env} index={index} count={data.counts.annotation.exited} />
      )}
    </>
  );
}
