import { useRouter } from "@tanstack/react-router";
import { defaultRangeExtractor, type Range, useVirtualizer } from "@tanstack/react-virtual";
import {
  type CSSProperties,
  Fragment,
  type KeyboardEvent,
  memo,
  type MouseEvent,
  type RefObject,
  useCallback,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "react";

import { basePath } from "../api/client.ts";
import type { AnswerOf } from "../api/contract.ts";
import { pathOfPage } from "../domain/links.ts";
import {
  type CellOutcome,
  layOutMatrix,
  type Matrix,
  type MatrixCell,
  type MatrixColumn,
  type MatrixPlace,
  moveInMatrix,
  shareMet,
} from "../domain/matrix.ts";
import { trailTitle } from "../domain/trail-search.ts";
import { type Verdict, verdictOfText, verdictWords } from "../domain/verdict.ts";
import { Time } from "../ui/Time.tsx";
import { usePrinting } from "../ui/usePrinting.ts";
import styles from "./TrailMatrix.module.css";
import { VerdictMark } from "./Verdict.tsx";

type Answer = Exclude<AnswerOf<"GET /trails/{org}/{flow_name}">, readonly unknown[]>;
/** A trail as a row of the matrix. */
export type MatrixTrail = Extract<Answer["data"][number], { flow_name: string }>;

/** Tells trails of a matrix from those that other lists have. */
export const isMatrixTrail = (trail: object): trail is MatrixTrail => "flow_name" in trail;

const verdicts: Readonly<Record<CellOutcome, Verdict>> = {
  met: "compliant",
  failed: "non-compliant",
  missing: "missing",
};
const words: Readonly<Record<CellOutcome, string>> = { met: "Met", failed: "Failed", missing: "Missing" };

/** Above so many columns their heads stand upright. */
const manyColumns = 8;

/** Height of a row, in pixels. */
const rowHeight = 41;

/** How many rows the head has. */
const headRows = 2;

interface TrailMatrixProps {
  label: string;
  trails: readonly MatrixTrail[];
  /** Called with the attestation whose failing or missing ones are to be shown. */
  onFilter: (filter: { failing?: string; missing?: string }) => void;
  isOld: boolean;
}

/** Says what a cell shows: `tests: Failed, by override`. */
function cellWords({ artifact, attestation }: MatrixColumn, cell: MatrixCell | undefined): string {
  const place = artifact === null ? "" : attestation === null ? "artifact " : `${artifact}: `;
  const name = `${place}${attestation ?? artifact ?? ""}`;
  if (cell === undefined) return `${name}: nothing`;
  const outcome = attestation === null && cell.outcome === "met" ? "Reported" : words[cell.outcome];
  return `${name}: ${outcome}${cell.isOverride ? ", by override" : ""}${cell.isUnasked ? ", not asked for" : ""}`;
}

function Cell({ column, cell, path, isHere }: CellProps) {
  const said = cellWords(column, cell);
  const tabIndex = isHere ? 0 : -1;
  if (cell === undefined)
    return (
      // A cell of a grid is reached by arrow keys.
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
      <td tabIndex={tabIndex} data-cell data-unasked={!column.isAsked || undefined}>
        <span className="visually-hidden">{said}</span>
      </td>
    );
  const to = cell.attestation_id === undefined ? path : `${path}?attestation_id=${cell.attestation_id}`;
  return (
    <td data-unasked={!column.isAsked || undefined}>
      <a href={`${basePath}${to.slice(1)}`} data-path={to} data-cell tabIndex={tabIndex} title={said}>
        <VerdictMark verdict={verdicts[cell.outcome]} words={said} isBare />
        {cell.isOverride ? <span className={styles["override"]} aria-hidden="true" /> : null}
      </a>
    </td>
  );
}

interface CellProps {
  column: MatrixColumn;
  cell: MatrixCell | undefined;
  path: string;
  isHere: boolean;
}

interface RowProps {
  /** Place among the trails, from 0. */
  index: number;
  trail: MatrixTrail;
  columns: readonly MatrixColumn[];
  cells: Matrix["rows"][number];
  /** Column of the cell that the keyboard is at; undefined in other rows. */
  here: number | undefined;
}

/** A trail. Only the rows that the keyboard leaves and enters are drawn anew. */
const TrailRow = memo(function TrailRow({ index: row, trail, columns, cells, here }: RowProps) {
  const { name, html_url, git_commit_info: commit, compliance_state, created_at } = trail;
  const path = pathOfPage(html_url, basePath) ?? "/";
  const title = trailTitle(name);
  const verdict = verdictOfText(compliance_state);
  return (
    <tr data-index={row} aria-rowindex={row + headRows + 1}>
      <th scope="row">
        <a
          href={`${basePath}${path.slice(1)}`}
          data-path={path}
          data-cell
          tabIndex={here === -1 ? 0 : -1}
          title={name}
        >
          <VerdictMark verdict={verdict} words={verdictWords[verdict]} isBare />
          <strong className={title === name ? undefined : styles["digest"]}>{title}</strong>
          <span className={styles["message"]}>{commit?.message ?? ""}</span>
        </a>
        <span className={styles["when"]}>
          <Time at={created_at} />
        </span>
      </th>
      {columns.map((column, index) => (
        <Cell key={column.key} column={column} cell={cells[index]} path={path} isHere={here === index} />
      ))}
      <td className={styles["rest"]} aria-hidden="true" />
    </tr>
  );
});

function Share({ column }: { column: MatrixColumn }) {
  const share = shareMet(column);
  const percent = Math.floor(share * 100);
  return (
    <span
      className={styles["share"]}
      data-all={share === 1}
      title={`${column.met} of ${column.met + column.failed + column.missing} met`}
    >
      <span className={styles["bar"]} aria-hidden="true">
        <span style={{ width: `${percent}%` }} />
      </span>
      {percent} %<span className="visually-hidden"> met</span>
    </span>
  );
}

interface GapProps {
  name: string;
  count: number;
  kind: "failing" | "missing";
  onFilter: TrailMatrixProps["onFilter"];
}

/** On how many of the trails it fails or is missing; leads to all on which it does. */
function Gap({ name, count, kind, onFilter }: GapProps) {
  if (count === 0) return null;
  const isMissing = kind === "missing";
  const said = `Trails on which ${name} ${isMissing ? "is missing" : "fails"}`;
  return (
    <button type="button" className={styles["gap"]} title={said} onClick={() => onFilter({ [kind]: name })}>
      <VerdictMark verdict={isMissing ? "missing" : "non-compliant"} words={said} isBare /> {count}
    </button>
  );
}

interface HeadProps {
  column: MatrixColumn;
  /** Whether any of the columns has gaps, for which all have room then. */
  hasGaps: boolean;
  onFilter: TrailMatrixProps["onFilter"];
}

function Head({ column, hasGaps, onFilter }: HeadProps) {
  const { artifact, attestation, failed, missing, isAsked } = column;
  const name = attestation ?? artifact ?? "";
  return (
    <th scope="col" data-unasked={!isAsked || undefined}>
      <span className={styles["head"]} title={name}>
        <span className={styles["name"]}>{attestation === null ? "reported" : name}</span>
      </span>
      <Share column={column} />
      {hasGaps ? (
        <span className={styles["gaps"]} data-no-print>
          {attestation === null ? null : (
            <>
              <Gap name={attestation} count={failed} kind="failing" onFilter={onFilter} />
              <Gap name={attestation} count={missing} kind="missing" onFilter={onFilter} />
            </>
          )}
        </span>
      ) : null}
    </th>
  );
}

const groupWords = (artifact: string | null, isAsked: boolean): string =>
  `${artifact ?? "Trail"}${isAsked ? "" : ", not asked for"}`;

function Heads({ matrix, onFilter }: { matrix: Matrix; onFilter: TrailMatrixProps["onFilter"] }) {
  const hasGaps = matrix.columns.some(
    ({ attestation, failed, missing }) => attestation !== null && failed + missing > 0,
  );
  return (
    <thead>
      <tr className={styles["groups"]}>
        <th scope="col" rowSpan={2}>
          Trail
        </th>
        {matrix.groups.map(({ key, artifact, isAsked, columns }) => (
          <th
            key={key}
            scope="colgroup"
            colSpan={columns}
            data-unasked={!isAsked || undefined}
            title={groupWords(artifact, isAsked)}
          >
            <span>{artifact ?? "Trail"}</span>
            {isAsked ? null : <small> unasked</small>}
          </th>
        ))}
        <td rowSpan={2} className={styles["rest"]} aria-hidden="true" />
      </tr>
      <tr>
        {matrix.columns.map((column) => (
          <Head key={column.key} column={column} hasGaps={hasGaps} onFilter={onFilter} />
        ))}
      </tr>
    </thead>
  );
}

/** Focuses the cell at a place, which is drawn. */
function focusCell(body: HTMLElement | null, { row, column }: MatrixPlace): void {
  const line = body?.querySelector<HTMLTableRowElement>(`[data-index="${row}"]`);
  const cell = line?.cells[column + 1];
  const target =
    cell?.matches("[data-cell]") === true ? cell : cell?.querySelector<HTMLElement>("[data-cell]");
  target?.focus();
}

/** Moves through the cells by arrow keys. @returns the place that is reached by Tab, and what listens to keys and to focus. */
function useMoving(rows: number, columns: number) {
  const body = useRef<HTMLTableSectionElement>(null);
  const [place, setPlace] = useState<MatrixPlace>({ row: 0, column: -1 });
  const isMoved = useRef(false);
  const here = { row: Math.min(place.row, rows - 1), column: Math.min(place.column, columns - 1) };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const next = moveInMatrix(here, event.key, { rows, columns });
    if (next === undefined) return;
    event.preventDefault();
    isMoved.current = true;
    setPlace(next);
  };
  // The row of the place is drawn by then, wherever it is.
  useLayoutEffect(() => {
    if (isMoved.current) focusCell(body.current, place);
    isMoved.current = false;
  }, [place]);
  return { body, here, onKeyDown };
}

/** A length that CSS reads. */
type Covered = CSSProperties & Record<"--head" | "--names", string>;

/** Measures what stays while the rest is scrolled, so that nothing that has the focus is behind it. */
function useCovered(frame: RefObject<HTMLDivElement | null>): { head: number; style: Covered } {
  const [size, setSize] = useState({ head: 0, names: 0 });
  useLayoutEffect(() => {
    const head = frame.current?.querySelector("thead");
    if (head === null || head === undefined) return undefined;
    const measure = (): void => {
      const first = head.querySelector("th");
      setSize({ head: head.offsetHeight, names: first?.offsetWidth ?? 0 });
    };
    const observer = new ResizeObserver(measure);
    observer.observe(head);
    measure();
    return () => observer.disconnect();
  }, [frame]);
  return { head: size.head, style: { "--head": `${size.head}px`, "--names": `${size.names}px` } };
}

/** Finds the rows that are near what is seen, and always the one that the keyboard is at; printed, all are. */
function useNearRows(frame: RefObject<HTMLDivElement | null>, count: number, here: number, head: number) {
  const isPrinting = usePrinting();
  const rangeExtractor = useCallback(
    (range: Range) => [...new Set([...defaultRangeExtractor(range), here])].toSorted((a, b) => a - b),
    [here],
  );
  // What it returns is asked anew in each rendering, and is given to nothing that would keep it.
  // oxlint-disable-next-line react/incompatible-library
  const virtual = useVirtualizer({
    count,
    getScrollElement: () => frame.current,
    estimateSize: () => rowHeight,
    overscan: isPrinting ? count : 6,
    scrollMargin: head,
    rangeExtractor,
  });
  const rows = virtual.getVirtualItems();
  return rows.map(({ index, start }, at) => ({
    index,
    above: start - (rows[at - 1]?.end ?? head),
    below: at === rows.length - 1 ? virtual.getTotalSize() + head - (start + rowHeight) : 0,
  }));
}

/** Holds the room of rows that are not drawn. */
function Space({ height }: { height: number }) {
  if (height <= 0) return null;
  return (
    <tr aria-hidden="true" className={styles["space"]}>
      <td style={{ height }} aria-label="Rows that are not drawn" />
    </tr>
  );
}

/** Trails as rows, what is asked of them as columns: what was met, what failed and what is missing. */
export function TrailMatrix({ label, trails, onFilter, isOld }: TrailMatrixProps) {
  const router = useRouter();
  const matrix = useMemo(() => layOutMatrix(trails), [trails]);
  const frame = useRef<HTMLDivElement>(null);
  const { body, here, onKeyDown } = useMoving(trails.length, matrix.columns.length);
  const { head, style } = useCovered(frame);
  const rows = useNearRows(frame, trails.length, here.row, head);
  const follow = useCallback(
    (event: MouseEvent) => {
      const path = (event.target as Element).closest<HTMLElement>("[data-path]")?.dataset["path"];
      const isPlain = !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
      if (path === undefined || !isPlain || event.button !== 0) return;
      event.preventDefault();
      void router.navigate({ href: path });
    },
    [router],
  );
  return (
    <div ref={frame} className={styles["frame"]} style={style} data-scrolls>
      <table
        className={styles["matrix"]}
        aria-label={label}
        aria-rowcount={trails.length + headRows}
        data-dense={matrix.columns.length > manyColumns}
        data-old={isOld || undefined}
      >
        <Heads matrix={matrix} onFilter={onFilter} />
        {/* Keys move between its links, and clicks on them stay in the app. */}
        {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions */}
        <tbody ref={body} onKeyDown={onKeyDown} onClick={follow}>
          {rows.map(({ index, above, below }) => {
            const trail = trails[index];
            return trail === undefined ? null : (
              <Fragment key={`${trail.flow_name}/${trail.name}`}>
                <Space height={above} />
                <TrailRow
                  index={index}
                  trail={trail}
                  columns={matrix.columns}
                  cells={matrix.rows[index] ?? []}
                  here={index === here.row ? here.column : undefined}
                />
                <Space height={below} />
              </Fragment>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
