import { type ReactNode, useRef } from "react";

import { Icon } from "./Icon.tsx";
import styles from "./Table.module.css";
import { useReachedByKeys } from "./useReachedByKeys.ts";

/** A column of a table. */
export interface Column<Row> {
  key: string;
  head: ReactNode;
  cell: (row: Row) => ReactNode;
  isNumber?: boolean;
  /** Left out on narrow screens; and on all but wide ones. */
  isOptional?: boolean | "wide";
  width?: string;
  /** The server sorts by it; called to choose that, or the other direction. */
  sort?: { direction: "asc" | "desc" | undefined; choose: () => void };
}

export interface TableProps<Row> {
  /** What the table shows, for those who cannot see where it stands. */
  label: string;
  columns: readonly Column<Row>[];
  /** Undefined until the first answer. */
  rows: readonly Row[] | undefined;
  rowKey: (row: Row, index: number) => string;
  /** How many rows to hold room for until they come. */
  expectedRows?: number;
  /** The rows are of a question that was changed meanwhile. */
  isOld?: boolean;
  /** Shown below a row, over all columns. */
  below?: (row: Row) => ReactNode;
}

const directions = { asc: "ascending", desc: "descending" } as const;

/** The head of a column, which may choose the order. */
export function ColumnHead<Row>({ column }: { column: Column<Row> }) {
  const { sort } = column;
  return (
    <th
      scope="col"
      className={column.isNumber === true ? styles["number"] : undefined}
      style={column.width === undefined ? undefined : { width: column.width }}
      data-optional={column.isOptional}
      aria-sort={sort?.direction === undefined ? undefined : directions[sort.direction]}
    >
      {sort === undefined ? (
        column.head
      ) : (
        <>
          {/* Browsers print buttons once, but heads on every sheet. */}
          <span data-print-only>{column.head}</span>
          <button
            type="button"
            className={styles["sorter"]}
            data-on={sort.direction !== undefined}
            data-no-print
            onClick={sort.choose}
          >
            {column.head}
            <Icon
              name={sort.direction === undefined ? "updown" : sort.direction === "asc" ? "up" : "down"}
              size={12}
            />
          </button>
        </>
      )}
    </th>
  );
}

function SkeletonRows({ columns, count }: { columns: readonly Column<never>[]; count: number }) {
  return Array.from({ length: count }, (_, row) => (
    <tr key={row}>
      {columns.map((column, index) => (
        <td key={column.key} data-optional={column.isOptional} aria-hidden="true">
          <span className={styles["skeleton"]} style={{ width: `${40 + ((row * 7 + index * 23) % 45)}%` }} />
        </td>
      ))}
    </tr>
  ));
}

/** A table whose rows the server has sorted and cut into pages. Until they come there is room for them. */
export function Table<Row>({
  label,
  columns,
  rows,
  rowKey,
  expectedRows = 8,
  isOld,
  below,
}: TableProps<Row>) {
  const frame = useRef<HTMLDivElement>(null);
  return (
    <div ref={frame} className={styles["frame"]} data-scrolls {...useReachedByKeys(frame, label)}>
      <table className={styles["table"]} aria-label={label} aria-busy={rows === undefined}>
        <thead>
          <tr>
            {columns.map((column) => (
              <ColumnHead key={column.key} column={column} />
            ))}
          </tr>
        </thead>
        <tbody className={isOld === true ? styles["dimmed"] : undefined}>
          {rows === undefined ? (
            <SkeletonRows columns={columns} count={expectedRows} />
          ) : (
            rows.map((row, index) => (
              <TableRow key={rowKey(row, index)} row={row} columns={columns} below={below?.(row)} />
            ))
          )}
        </tbody>
      </table>
    </div>
  );
}

/** A row, and what is shown below it. */
export function TableRow<Row>({
  row,
  columns,
  below,
  position,
}: {
  row: Row;
  columns: readonly Column<Row>[];
  below: ReactNode;
  /** Place in the whole table, from 1, where not all rows are there. */
  position?: number;
}) {
  const isOpen = below !== undefined && below !== null && below !== false;
  return (
    <>
      <tr data-row data-open={isOpen || undefined} aria-rowindex={position}>
        {columns.map((column) => (
          <td
            key={column.key}
            className={column.isNumber === true ? styles["number"] : undefined}
            data-optional={column.isOptional}
          >
            {column.cell(row)}
          </td>
        ))}
      </tr>
      {isOpen ? (
        <tr className={styles["below"]}>
          <td colSpan={columns.length}>{below}</td>
        </tr>
      ) : null}
    </>
  );
}
