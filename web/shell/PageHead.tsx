import { Link, useParams, useSearch } from "@tanstack/react-router";
import { lazy, type ReactNode, useEffect, useState } from "react";

import { Button } from "../ui/Button.tsx";
import { Icon } from "../ui/Icon.tsx";
import { Time } from "../ui/Time.tsx";
import { LatePart } from "./LatePart.tsx";
import styles from "./PageHead.module.css";

const Answers = lazy(async () => ({ default: (await import("../parts/Answers.tsx")).Answers }));

interface PageHeadProps {
  title: string;
  /** What the title is short for; printed beneath it. */
  whole?: string;
  /** Printed across the paper: its tables are wide. */
  isWide?: boolean;
  /** A `Crumb` for each thing that the page is part of, the largest first. */
  crumbs?: ReactNode;
  /** Stands beside the title. */
  verdict?: ReactNode;
  /** What is known at a glance, below the title. */
  about?: ReactNode;
  actions?: ReactNode;
  /** A field that leads elsewhere; it stands beside the parts of the page, or by itself. */
  tools?: ReactNode;
  /** Links to the page's parts; that of the current one has `aria-current="page"`. */
  tabs?: ReactNode;
  /** Path that shows the same tomorrow, below the program's own, where that of the page may not. */
  permanent?: string | undefined;
  /** When what is shown was so, in Unix seconds, on pages whose address can say so with `until`. */
  asOf?: number;
}

/** A link to what a page is part of. */
export function Crumb({ children }: { children: ReactNode }) {
  return (
    <li>
      {children}
      <Icon name="chevron" size={10} />
    </li>
  );
}

/** Opens the answers behind the page. */
function AnswersButton() {
  const { org = "" } = useParams({ strict: false });
  const [isOpen, setOpen] = useState(false);
  const close = (): void => setOpen(false);
  return (
    <>
      <Button look="quiet" icon="json" title="The answers behind this page" onClick={() => setOpen(true)}>
        JSON
      </Button>
      {isOpen ? (
        <LatePart onClose={close}>
          <Answers org={org} onClose={close} />
        </LatePart>
      ) : null}
    </>
  );
}

/** Says that a page shows what was until some time, and leads to what is now. */
function Until() {
  const { until } = useSearch({ strict: false });
  if (until === undefined) return null;
  return (
    <div className={styles["about"]}>
      <span>
        until <Time at={until} exact />
      </span>
      <Link to="." search={(before) => ({ ...before, until: undefined, page: undefined })} data-no-print>
        Show now
      </Link>
    </div>
  );
}

/** The head of a page: where it is, what it is about, what can be done. It names the browser's tab, too. */
export function PageHead({
  title,
  whole,
  isWide,
  crumbs,
  verdict,
  about,
  actions,
  tools,
  tabs,
  permanent,
  asOf,
}: PageHeadProps) {
  useEffect(() => {
    document.title = `${title} · Waybill`;
  }, [title]);
  return (
    <header
      className={styles["head"]}
      data-print={isWide === true ? "wide" : undefined}
      data-permanent={permanent}
      data-as-of={asOf}
    >
      {crumbs === undefined ? null : (
        <nav aria-label="Breadcrumbs">
          <ol className={styles["crumbs"]}>{crumbs}</ol>
        </nav>
      )}
      <div className={styles["line"]}>
        <h1 tabIndex={-1}>{title}</h1>
        {verdict}
        <div className={styles["actions"]} data-actions data-no-print>
          {actions}
          <AnswersButton />
        </div>
      </div>
      {whole === undefined || whole === title ? null : <p data-print-only>{whole}</p>}
      {about === undefined ? null : <div className={styles["about"]}>{about}</div>}
      {asOf === undefined ? null : <Until />}
      {tabs === undefined ? (
        tools
      ) : (
        <div className={styles["row"]} data-no-print>
          <nav aria-label="Parts of this page" className={styles["tabs"]}>
            {tabs}
          </nav>
          {tools}
        </div>
      )}
    </header>
  );
}
