import { getRouteApi } from "@tanstack/react-router";
import type { ReactNode } from "react";

import { duration } from "../../domain/times.ts";
import { verdictOfFlag } from "../../domain/verdict.ts";
import { Commit } from "../../parts/Commit.tsx";
import { Fingerprint } from "../../parts/Fingerprint.tsx";
import { ForeignLink } from "../../parts/ForeignLink.tsx";
import { PageLink } from "../../parts/PageLink.tsx";
import { FlowLink } from "../../parts/ProcessLinks.tsx";
import { VerdictMark } from "../../parts/Verdict.tsx";
import { Empty } from "../../ui/Empty.tsx";
import { Fold, Quiet } from "../../ui/Layout.tsx";
import { LongTable } from "../../ui/LongTable.tsx";
import { type Column, Table } from "../../ui/Table.tsx";
import styles from "./Compare.module.css";
import type { Difference, Item, Pair } from "./queries.ts";

const route = getRouteApi("/$org/diff");

/** Of more differences than this only the rows near the window are drawn, in tables that are not short. */
const manyRows = 200;
const shortTable = 20;

function Name({ item }: { item: Item }) {
  return (
    <PageLink address={item.html_url} className={styles["artifact"]}>
      {item.name}
    </PageLink>
  );
}

/** A version on one side: its name, verdict and instances. */
function Version({ item }: { item: Item }) {
  const { instance_count } = item;
  return (
    <span className={styles["version"]}>
      <Name item={item} />
      <span className={styles["facts"]}>
        <VerdictMark verdict={verdictOfFlag(item.compliant)} />
        <Fingerprint value={item.fingerprint} />
        {instance_count === undefined ? null : (
          <Quiet>
            {instance_count} {instance_count === 1 ? "instance" : "instances"}
          </Quiet>
        )}
      </span>
    </span>
  );
}

const pairColumns: readonly Column<Pair>[] = [
  { key: "before", head: "Before", width: "36%", cell: ({ before }) => <Version item={before} /> },
  { key: "after", head: "After", width: "36%", cell: ({ after }) => <Version item={after} /> },
  {
    key: "code",
    head: "Code",
    width: "150px",
    isOptional: true,
    cell: ({ diff_url, after }) =>
      diff_url === null ? (
        <Commit sha={after.git_commit} url={after.commit_url} />
      ) : (
        <ForeignLink address={diff_url}>what changed</ForeignLink>
      ),
  },
  {
    key: "lead",
    head: "Lead time",
    width: "100px",
    isOptional: true,
    cell: ({ commit_lead_time: lead }) => (lead === null ? <Quiet>unknown</Quiet> : duration(lead)),
  },
];

function Flow({ name }: { name: string }) {
  const { org } = route.useParams();
  return (
    <span className={styles["flow"]}>
      <FlowLink org={org} flow={name} />
    </span>
  );
}

const nameColumn: Column<Item> = {
  key: "name",
  head: "Artifact",
  width: "34%",
  cell: (item) => <Name item={item} />,
};
const fingerprintColumn: Column<Item> = {
  key: "fingerprint",
  head: "Fingerprint",
  width: "120px",
  cell: ({ fingerprint }) => <Fingerprint value={fingerprint} />,
};
const flowColumn: Column<Item> = {
  key: "flow",
  head: "Flow",
  width: "160px",
  isOptional: true,
  cell: ({ flow }) => <Flow name={flow} />,
};
const verdictColumn: Column<Item> = {
  key: "verdict",
  head: "Verdict",
  width: "150px",
  cell: ({ compliant }) => <VerdictMark verdict={verdictOfFlag(compliant)} />,
};
const verdictsColumn: Column<Item> = {
  ...verdictColumn,
  cell: ({ compliant, s1_compliant }) =>
    s1_compliant === compliant ? (
      <VerdictMark verdict={verdictOfFlag(compliant)} />
    ) : (
      <span className={styles["facts"]}>
        <VerdictMark verdict={verdictOfFlag(s1_compliant)} /> →{" "}
        <VerdictMark verdict={verdictOfFlag(compliant)} />
      </span>
    ),
};
const commitColumn: Column<Item> = {
  key: "commit",
  head: "Commit",
  width: "150px",
  isOptional: true,
  cell: ({ git_commit, commit_url }) => <Commit sha={git_commit} url={commit_url} />,
};
const countColumn: Column<Item> = {
  key: "instances",
  head: "Instances",
  isNumber: true,
  width: "110px",
  cell: ({ instance_count, s1_instance_count, s2_instance_count }) =>
    instance_count ?? `${s1_instance_count} → ${s2_instance_count}`,
};

const oneSided = [verdictColumn, nameColumn, fingerprintColumn, flowColumn, commitColumn, countColumn];
const bothSided = [verdictsColumn, nameColumn, fingerprintColumn, flowColumn, commitColumn, countColumn];

interface RowsProps<T> {
  label: string;
  rows: readonly T[];
  columns: readonly Column<T>[];
  rowKey: (row: T) => string;
  /** There are many in all tables together. */
  isMany: boolean;
}

function Rows<T>({ isMany, ...table }: RowsProps<T>) {
  return isMany && table.rows.length > shortTable ? <LongTable {...table} /> : <Table {...table} />;
}

const itemKey = ({ name, fingerprint }: Item): string => `${name} ${fingerprint}`;

interface PartProps {
  id: string;
  title: string;
  count: number;
  children: ReactNode;
}

function Part({ id, title, count, children }: PartProps) {
  if (count === 0) return null;
  return (
    <section id={id} className={styles["part"]}>
      <h2>
        {title} <small>{count}</small>
      </h2>
      {children}
    </section>
  );
}

const pairKey = ({ before, after }: Pair): string =>
  `${before.fingerprint} ${after.fingerprint} ${after.name}`;

/** What differs, what is new to them first: versions, what came, what went, other numbers; what stayed is folded. */
export function Differences({ difference }: { difference: Difference }) {
  const { snappish1, snappish2, changed, "not-changed": same, paired = [] } = difference;
  const differs =
    paired.length + snappish1.artifacts.length + snappish2.artifacts.length + changed.artifacts.length;
  const isMany = differs > manyRows;
  return (
    <>
      {differs === 0 ? (
        <Empty title="Nothing differs" text="The same artifacts run in both, in the same numbers." />
      ) : null}
      <Part id="new-versions" title="New versions" count={paired.length}>
        <Rows label="New versions" rows={paired} columns={pairColumns} rowKey={pairKey} isMany={isMany} />
      </Part>
      <Part id="new" title="New" count={snappish2.artifacts.length}>
        <Rows label="New" rows={snappish2.artifacts} columns={oneSided} rowKey={itemKey} isMany={isMany} />
      </Part>
      <Part id="gone" title="Gone" count={snappish1.artifacts.length}>
        <Rows label="Gone" rows={snappish1.artifacts} columns={oneSided} rowKey={itemKey} isMany={isMany} />
      </Part>
      <Part id="numbers" title="In other numbers" count={changed.artifacts.length}>
        <Rows
          label="In other numbers"
          rows={changed.artifacts}
          columns={bothSided}
          rowKey={itemKey}
          isMany={isMany}
        />
      </Part>
      {same.artifacts.length === 0 ? null : (
        <Fold title={`Unchanged (${same.artifacts.length})`}>
          <Rows
            label="Unchanged"
            rows={same.artifacts}
            columns={bothSided}
            rowKey={itemKey}
            isMany={same.artifacts.length > manyRows}
          />
        </Fold>
      )}
    </>
  );
}
