import type { ReactNode } from "react";

import { CodeBlock } from "../ui/Copy.tsx";
import { controlClass } from "../ui/Field.tsx";
import { Card, Quiet } from "../ui/Layout.tsx";
import { TextDiff } from "../ui/TextDiff.tsx";
import { Time } from "../ui/Time.tsx";
import styles from "./Versions.module.css";

/** A version of something that is written as a text. */
interface ShownVersion {
  version: number;
  /** Why it was made; undefined where nobody is asked for that. */
  comment?: string;
  /** Unix seconds. */
  timestamp: number;
  created_by: string;
  text: string;
}

interface VersionLinkProps {
  version: number;
  isShown: boolean;
  children: ReactNode;
}

interface VersionsProps {
  /** The oldest first. */
  versions: readonly ShownVersion[];
  /** The version compared with; the one before unless given. */
  from: number | undefined;
  /** The version shown; the latest unless given. */
  to: number | undefined;
  /** Leads to the page with this version shown. */
  VersionLink: (props: VersionLinkProps) => ReactNode;
  onCompare: (from: number) => void;
}

function VersionList({
  versions,
  shown,
  VersionLink,
}: Pick<VersionsProps, "versions" | "VersionLink"> & { shown: number }) {
  return (
    <ol className={styles["versions"]}>
      {versions.toReversed().map(({ version, comment, timestamp, created_by }) => (
        <li key={version}>
          <VersionLink version={version} isShown={version === shown}>
            <strong>Version {version}</strong>
            {comment === undefined ? null : (
              <span className={styles["comment"]}>
                {comment === "" ? <Quiet>no comment</Quiet> : comment}
              </span>
            )}
            <Quiet isSmall>
              {created_by}, <Time at={timestamp} />
            </Quiet>
          </VersionLink>
        </li>
      ))}
    </ol>
  );
}

function Against({
  others,
  before,
  onCompare,
}: {
  others: readonly ShownVersion[];
  before: number | undefined;
  onCompare: (from: number) => void;
}) {
  if (others.length === 0) return null;
  return (
    <select
      className={`${controlClass} ${styles["against"]}`}
      aria-label="Compare with"
      value={before ?? ""}
      onChange={(event) => onCompare(Number(event.target.value))}
    >
      {before === undefined ? <option value="">nothing</option> : null}
      {others.map(({ version }) => (
        <option key={version} value={version}>
          against version {version}
        </option>
      ))}
    </select>
  );
}

/** The versions of a text, and what one changed against another. */
export function Versions({ versions, from, to, VersionLink, onCompare }: VersionsProps) {
  const after = versions.find(({ version }) => version === to) ?? versions.at(-1);
  if (after === undefined) return <Quiet>It has no text yet.</Quiet>;
  const before = versions.find(({ version }) => version === (from ?? after.version - 1));
  return (
    <div className={styles["sides"]}>
      <Card title="Versions">
        <VersionList versions={versions} shown={after.version} VersionLink={VersionLink} />
      </Card>
      <Card
        title={
          before === undefined ? `Version ${after.version}` : `Version ${before.version} to ${after.version}`
        }
        aside={
          <Against
            others={versions.filter(({ version }) => version !== after.version)}
            before={before?.version}
            onCompare={onCompare}
          />
        }
      >
        {before === undefined ? (
          <CodeBlock text={after.text} label={`text of version ${after.version}`} />
        ) : (
          <TextDiff
            before={before.text}
            after={after.text}
            label={`Changes from version ${before.version} to ${after.version}`}
          />
        )}
      </Card>
    </div>
  );
}
