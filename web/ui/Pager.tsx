import { numberWords } from "../domain/numbers.ts";
import { Button } from "./Button.tsx";
import styles from "./Pager.module.css";

interface PagerProps {
  page: number;
  per_page: number;
  /** Undefined where the list is not counted: then a full page may have another behind it. */
  total: number | undefined;
  /** How many items this page has. */
  count: number;
  onPage: (page: number) => void;
}

/** Says which part of a list is shown, and leads to the parts beside it. */
export function Pager({ page, per_page, total, count, onPage }: PagerProps) {
  const first = (page - 1) * per_page + 1;
  const last = first + count - 1;
  const isLast = total === undefined ? count < per_page : last >= total;
  if (page === 1 && isLast && total === undefined) return null;
  return (
    <nav className={styles["pager"]} aria-label="Pages" data-no-print>
      <span>
        {count === 0 ? "Nothing on this page" : `${numberWords(first)}–${numberWords(last)}`}
        {total === undefined ? "" : ` of ${numberWords(total)}`}
      </span>
      <div>
        <Button
          refused={page > 1 ? undefined : "This is the first page"}
          icon="left"
          onClick={() => onPage(page - 1)}
        >
          Previous
        </Button>
        <Button refused={isLast ? "This is the last page" : undefined} onClick={() => onPage(page + 1)}>
          Next
        </Button>
      </div>
    </nav>
  );
}
