import type { ReactNode } from "react";

import { Why } from "../../parts/Why.tsx";
import { Empty, NoMatch } from "../../ui/Empty.tsx";
import { LongTable } from "../../ui/LongTable.tsx";
import { type Column, Table } from "../../ui/Table.tsx";
import { exitedColumns } from "./ArtifactColumns.tsx";
import { ArtifactDetails } from "./ArtifactDetails.tsx";
import type { SnapshotSearch } from "./queries.ts";
import { type ArtifactRow, keyOfRow } from "./rows.ts";

/** Of a snapshot with more artifacts than this only the rows near the window are drawn. */
export const manyRows = 200;

/** Where a list of artifacts stands, and how it is looked at. */
export interface ListProps {
  org: string;
  env: string;
  search: SnapshotSearch;
  onSearch: (change: SnapshotSearch, replace?: boolean) => void;
  isOld?: boolean;
}

const rowKey = ({ name, fingerprint }: ArtifactRow): string => `${name} ${fingerprint}`;

/** Shows what is known of the row that is open, and why it has its verdict. */
export function belowRow({ org, env, search }: ListProps, index: number): (row: ArtifactRow) => ReactNode {
  return (row) =>
    search.open === keyOfRow(row) ? (
      <>
        {row.details === undefined ? null : <ArtifactDetails details={row.details} />}
        <Why org={org} env={env} snapshot={index} fingerprint={row.fingerprint} name={row.name} />
      </>
    ) : null;
}

/** Says that nothing runs, or that nothing of it is as the filters say. */
export function NothingToShow({
  isFiltered,
  onSearch,
}: Pick<ListProps, "onSearch"> & { isFiltered: boolean }) {
  if (!isFiltered) return <Empty title="Nothing runs here" text="The reporter found nothing, and said so." />;
  const none = { q: undefined, verdict: undefined, provenance: undefined, change: undefined };
  return (
    <NoMatch
      title="No artifact matches"
      text="None of what runs here is as the filters say."
      onClear={() => onSearch({ ...none, page: undefined })}
    />
  );
}

/** The table of what runs. */
export function ArtifactTable({
  columns,
  rows,
  isLong,
  below,
  isOld,
}: {
  columns: readonly Column<ArtifactRow>[];
  rows: readonly ArtifactRow[] | undefined;
  /** Only the rows near the window are drawn; it stays so when filters leave few. */
  isLong?: boolean;
  below?: (row: ArtifactRow) => ReactNode;
  isOld?: boolean;
}) {
  const common = {
    label: "What runs here",
    columns,
    isOld: isOld === true,
    rowKey,
    ...(below === undefined ? {} : { below }),
  };
  return rows !== undefined && isLong === true ? (
    <LongTable {...common} rows={rows} />
  ) : (
    <Table {...common} rows={rows} />
  );
}

/** The table of what exited. */
export function ExitedTable({ org, rows }: { org: string; rows: readonly ArtifactRow[] | undefined }) {
  return <Table label="Exited" columns={exitedColumns(org)} rows={rows} rowKey={rowKey} />;
}
