import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

import { numberWords } from "../../domain/numbers.ts";
import { VerdictMark } from "../../parts/Verdict.tsx";
import type { Overview } from "./queries.ts";
import styles from "./Start.module.css";

const shown = (count: number | undefined): string => (count === undefined ? "–" : numberWords(count));

interface TileProps {
  title: string;
  /** The number, as a link to what it counts. */
  number: ReactNode;
  /** Makes a number stand out that should be nothing. */
  isWarning?: boolean;
  children?: ReactNode;
}

function Tile({ title, number, isWarning, children }: TileProps) {
  return (
    <section className={styles["tile"]} data-warning={isWarning} aria-label={title}>
      <h2>{title}</h2>
      <p className={styles["number"]}>{number}</p>
      {children === undefined ? null : <ul>{children}</ul>}
    </section>
  );
}

interface TilesProps {
  org: string;
  /** Undefined until the first answer. */
  overview: Overview | undefined;
}

function EnvironmentsTile({ org, overview }: TilesProps) {
  const numbers = overview?.environments;
  const states = [
    ["non-compliant", "NON-COMPLIANT", numbers?.non_compliant],
    ["compliant", "COMPLIANT", numbers?.compliant],
    ["unknown", "UNKNOWN", numbers?.unknown],
  ] as const;
  return (
    <Tile
      title="Environments"
      number={
        <Link to="/$org/environments" params={{ org }} aria-label={`${numbers?.total ?? ""} environments`}>
          {shown(numbers?.total)}
        </Link>
      }
    >
      {states.map(([verdict, state, count]) => (
        <li key={state}>
          <Link to="/$org/environments" params={{ org }} search={{ state }}>
            <VerdictMark verdict={verdict} words={`${shown(count)} ${verdict}`} />
          </Link>
        </li>
      ))}
    </Tile>
  );
}

function RunningTile({ org, overview }: TilesProps) {
  const numbers = overview?.running;
  return (
    <Tile
      title="Running artifacts"
      number={
        <Link
          to="/$org/running"
          params={{ org }}
          aria-label={`${numbers?.artifacts ?? ""} running artifacts`}
        >
          {shown(numbers?.artifacts)}
        </Link>
      }
    >
      <li>
        <Link to="/$org/running" params={{ org }} search={{ compliant: "false" }}>
          <VerdictMark verdict="non-compliant" words={`${shown(numbers?.non_compliant)} non-compliant`} />
        </Link>
      </li>
      <li>
        <Link to="/$org/running" params={{ org }} search={{ allow_listed: "true" }}>
          <VerdictMark verdict="exempt" words={`${shown(numbers?.allow_listed)} allowed`} />
        </Link>
      </li>
    </Tile>
  );
}

function UnprovenTile({ org, overview }: TilesProps) {
  const count = overview?.running.unproven;
  return (
    <Tile
      title="Unproven"
      isWarning={(count ?? 0) > 0}
      number={
        <Link
          to="/$org/running"
          params={{ org }}
          search={{ provenance: "none" }}
          aria-label={`${count ?? ""} unproven`}
        >
          {shown(count)}
        </Link>
      }
    >
      <li className={styles["remark"]}>run, and no flow knows them</li>
    </Tile>
  );
}

function SilentTile({ org, overview }: TilesProps) {
  const numbers = overview?.environments;
  return (
    <Tile
      title="Silent"
      isWarning={(numbers?.stale ?? 0) > 0}
      number={
        <Link
          to="/$org/environments"
          params={{ org }}
          search={{ stale: true }}
          aria-label={`${numbers?.stale ?? ""} silent`}
        >
          {shown(numbers?.stale)}
        </Link>
      }
    >
      <li className={styles["remark"]}>reporters that stopped</li>
      <li>
        <Link to="/$org/environments" params={{ org }} search={{ state: "NEVER-REPORTED" }}>
          {shown(numbers?.never_reported)} never reported
        </Link>
      </li>
    </Tile>
  );
}

function TrailsTile({ org, overview }: TilesProps) {
  const numbers = overview?.trails;
  const states = [
    ["non-compliant", "NON-COMPLIANT", numbers?.non_compliant],
    ["compliant", "COMPLIANT", numbers?.compliant],
    ["incomplete", "INCOMPLETE", numbers?.incomplete],
  ] as const;
  return (
    <Tile
      title="Trails begun in 24 hours"
      number={
        <Link
          to="/$org/trails"
          params={{ org }}
          search={{ since: "24h" }}
          aria-label={`${numbers?.total ?? ""} trails`}
        >
          {shown(numbers?.total)}
        </Link>
      }
    >
      {states.map(([verdict, state, count]) => (
        <li key={state}>
          <Link to="/$org/trails" params={{ org }} search={{ since: "24h", state }}>
            <VerdictMark verdict={verdict} words={`${shown(count)} ${verdict}`} />
          </Link>
        </li>
      ))}
    </Tile>
  );
}

/** The numbers of an organization. Each leads to the list that it counts. */
export function Tiles({ org, overview }: TilesProps) {
  return (
    <div className={styles["tiles"]}>
      <EnvironmentsTile org={org} overview={overview} />
      <RunningTile org={org} overview={overview} />
      <UnprovenTile org={org} overview={overview} />
      <SilentTile org={org} overview={overview} />
      <TrailsTile org={org} overview={overview} />
    </div>
  );
}
