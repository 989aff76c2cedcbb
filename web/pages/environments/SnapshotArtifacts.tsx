import { useDeferredValue, useMemo, useState } from "react";

import { countRows, filterRows, partExited, sortRows } from "../../domain/snapshot-rows.ts";
import { Fold } from "../../ui/Layout.tsx";
import { useArtifactColumns } from "./ArtifactColumns.tsx";
import { ArtifactFilters } from "./ArtifactFilters.tsx";
import {
  ArtifactTable,
  belowRow,
  ExitedTable,
  type ListProps,
  manyRows,
  NothingToShow,
} from "./ArtifactTable.tsx";
import { PagedArtifacts } from "./PagedArtifacts.tsx";
import type { Snapshot } from "./queries.ts";
import { rowOfHeld } from "./rows.ts";

/** Holds the text that is typed, ahead of the address, which follows when it is finished. */
function useTyped(q: string): [string, (text: string) => void] {
  const [typed, type] = useState(q);
  const [known, setKnown] = useState(q);
  if (q !== known) {
    setKnown(q);
    type(q);
  }
  return [typed, type];
}

/** What runs in a snapshot that is there whole: filtered and sorted here, at each key. */
function HeldArtifacts(props: ListProps & { snapshot: Snapshot }) {
  const { org, snapshot, search, onSearch } = props;
  const { q = "", verdict, provenance, change, sort = "verdict", direction = "asc" } = search;
  const [typed, type] = useTyped(q);
  const text = useDeferredValue(typed);
  const columns = useArtifactColumns({ org, search, onSearch, isPaged: false });
  const { running, exited } = useMemo(() => partExited(snapshot.artifacts.map(rowOfHeld)), [snapshot]);
  const counts = useMemo(() => countRows(running), [running]);
  const rows = useMemo(
    () => sortRows(filterRows(running, { text, verdict, provenance, change }), sort, direction),
    [running, text, verdict, provenance, change, sort, direction],
  );
  return (
    <>
      <ArtifactFilters
        counts={counts}
        searched="Filter by name, digest, flow, commit"
        search={search}
        onSearch={onSearch}
        onType={type}
      />
      <h2 className="visually-hidden">What runs</h2>
      {rows.length === 0 ? (
        <NothingToShow isFiltered={running.length > 0} onSearch={onSearch} />
      ) : (
        <ArtifactTable
          columns={columns}
          rows={rows}
          isLong={running.length > manyRows}
          below={belowRow(props, snapshot.index)}
          isOld={props.isOld === true}
        />
      )}
      {exited.length === 0 ? null : (
        <Fold title={`Exited with this snapshot (${exited.length})`}>
          <ExitedTable org={org} rows={exited} />
        </Fold>
      )}
    </>
  );
}

/** Stands there until it is known what runs. */
export function WaitingArtifacts({ org, search, onSearch }: ListProps) {
  const columns = useArtifactColumns({ org, search, onSearch, isPaged: false });
  return (
    <>
      <ArtifactFilters
        counts={undefined}
        searched="Filter by name, digest, flow, commit"
        search={search}
        onSearch={onSearch}
      />
      <ArtifactTable columns={columns} rows={undefined} />
    </>
  );
}

/** What runs, or ran, in a snapshot; of a large one page by page. @param snapshot undefined until it is there. */
export function SnapshotArtifacts(props: ListProps & { snapshot: Snapshot | undefined }) {
  const { snapshot, ...list } = props;
  if (snapshot === undefined) return <WaitingArtifacts {...list} />;
  if (snapshot.artifacts_left_out !== undefined) return <PagedArtifacts {...list} index={snapshot.index} />;
  return <HeldArtifacts {...list} snapshot={snapshot} />;
}
