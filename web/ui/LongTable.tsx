import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useLayoutEffect, useRef, useState } from "react";

import { type Column, ColumnHead, type TableProps, TableRow } from "./Table.tsx";
import styles from "./Table.module.css";
import { usePrinting } from "./usePrinting.ts";
import { useReachedByKeys } from "./useReachedByKeys.ts";

interface LongTableProps<Row> extends Omit<TableProps<Row>, "rows" | "expectedRows"> {
  rows: readonly Row[];
}

/** Height of a row before it is measured, in pixels. */
const usualHeight = 53;

/** Tells how far below the top of the page an element begins, also after what is above it has grown. */
function useTop() {
  const ref = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    const measure = (): void => {
      if (ref.current !== null) setTop(Math.round(ref.current.getBoundingClientRect().top + scrollY));
    };
    const observer = new ResizeObserver(measure);
    observer.observe(document.body);
    measure();
    return () => observer.disconnect();
  }, []);
  return { ref, top };
}

function Space({ height, columns }: { height: number; columns: number }) {
  if (height <= 0) return null;
  return (
    <tbody aria-hidden="true" className={styles["space"]}>
      <tr>
        <td colSpan={columns} style={{ height }} aria-label="Rows that are not drawn" />
      </tr>
    </tbody>
  );
}

/** Takes away shares of the width: what is left by the columns of fixed width is shared by all others. */
function withoutShares<Row>({ width, ...column }: Column<Row>): Column<Row> {
  return width === undefined || width.endsWith("%") ? column : { ...column, width };
}

function Heads<Row>({ columns }: { columns: readonly Column<Row>[] }) {
  return (
    <thead>
      <tr>
        {columns.map((column) => (
          <ColumnHead key={column.key} column={withoutShares(column)} />
        ))}
      </tr>
    </thead>
  );
}

/** A table of which only the rows near the window are there, for thousands of them; printed, all are. Columns need widths. */
export function LongTable<Row>({ label, columns, rows, rowKey, isOld, below }: LongTableProps<Row>) {
  const { ref, top } = useTop();
  const isPrinting = usePrinting();
  // What it returns is asked anew in each rendering, and is given to nothing that would keep it.
  // oxlint-disable-next-line react/incompatible-library
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => usualHeight,
    overscan: isPrinting ? rows.length : 8,
    scrollMargin: top,
    getItemKey: (index) => {
      const row = rows[index];
      return row === undefined ? index : rowKey(row, index);
    },
  });
  const items = virtual.getVirtualItems();
  const before = (items[0]?.start ?? top) - top;
  const after = virtual.getTotalSize() - ((items.at(-1)?.end ?? top) - top);
  const show = (index: number): ReactNode => {
    const row = rows[index];
    if (row === undefined) return null;
    return <TableRow row={row} columns={columns} below={below?.(row)} position={index + 2} />;
  };
  return (
    <div ref={ref} className={styles["frame"]} data-scrolls {...useReachedByKeys(ref, label)}>
      <table
        className={`${styles["table"]} ${styles["long"]} ${isOld === true ? styles["dimmed"] : ""}`}
        aria-label={label}
        aria-rowcount={rows.length + 1}
      >
        <Heads columns={columns} />
        <Space height={before} columns={columns.length} />
        {items.map(({ key, index }) => (
          <tbody key={key} data-index={index} ref={virtual.measureElement}>
            {show(index)}
          </tbody>
        ))}
        <Space height={after} columns={columns.length} />
      </table>
    </div>
  );
}
