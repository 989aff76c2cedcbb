import { Link } from "@tanstack/react-router";

import { numbered } from "../../domain/snapshot-names.ts";
import { Button, buttonClass } from "../../ui/Button.tsx";
import { Icon, type IconName } from "../../ui/Icon.tsx";
import { filtersOf, type SnapshotSearch } from "./queries.ts";

interface Place {
  org: string;
  env: string;
}

interface StepProps extends Place {
  to: number | undefined;
  words: string;
  icon: IconName;
  shortcut: string;
  /** Why there is none. */
  refused: string;
  search: SnapshotSearch;
}

/** Leads to the snapshot before or after, if there is one. */
function Step({ org, env, to, words, icon, shortcut, refused, search }: StepProps) {
  if (to === undefined)
    return (
      <Button refused={refused} icon={icon}>
        {words}
      </Button>
    );
  return (
    <Link
      to="/$org/environments/$env/snapshots/$expression"
      params={{ org, env, expression: String(to) }}
      search={filtersOf(search)}
      className={buttonClass()}
      aria-keyshortcuts={shortcut}
    >
      <Icon name={icon} />
      {words}
    </Link>
  );
}

interface SnapshotStepsProps extends Place {
  /** Number of the snapshot that is shown. */
  index: number;
  isLatest: boolean;
  /** The page is about what runs now, after which there is nothing. */
  isNow?: boolean;
  /** Filters, which the others are looked at through as well. */
  search: SnapshotSearch;
}

/** Leads to the snapshots before and after, and to what the one shown changed. */
export function SnapshotSteps({ org, env, index, isLatest, isNow, search }: SnapshotStepsProps) {
  const common = { org, env, search };
  return (
    <>
      <Step
        {...common}
        to={index > 1 ? index - 1 : undefined}
        words="Previous"
        icon="left"
        shortcut="["
        refused="This is the first snapshot"
      />
      {isNow === true ? null : (
        <Step
          {...common}
          to={isLatest ? undefined : index + 1}
          words="Next"
          icon="chevron"
          shortcut="]"
          refused="This is the latest snapshot"
        />
      )}
      {index > 1 ? (
        <Link
          to="/$org/diff"
          params={{ org }}
          search={{ from: numbered(env, index - 1), to: numbered(env, index) }}
          className={buttonClass()}
          aria-keyshortcuts="d"
        >
          <Icon name="compare" />
          What it changed
        </Link>
      ) : null}
    </>
  );
}
