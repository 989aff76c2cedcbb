import { Link } from "@tanstack/react-router";

import {
  controlOf,
  customJudgementOf,
  dataLines,
  issuesOf,
  pullRequestsOf,
  qualityGateOf,
  type Scan,
  scanOf,
  testSuites,
} from "../../domain/attestation-data.ts";
import { numberWords } from "../../domain/numbers.ts";
import { duration } from "../../domain/times.ts";
import { ForeignLink } from "../../parts/ForeignLink.tsx";
import { VerdictMark } from "../../parts/Verdict.tsx";
import { Facts, Quiet } from "../../ui/Layout.tsx";
import { Table } from "../../ui/Table.tsx";
import type { Attestation } from "./queries.ts";
import { CustomData } from "./CustomData.tsx";
import styles from "./Trails.module.css";

/** Numbers that are said large, beside each other. */
function Numbers({ numbers }: { numbers: readonly (readonly [string, number, "bad"?])[] }) {
  return (
    <dl className={styles["numbers"]}>
      {numbers.map(([name, value, tone]) => (
        <div key={name} data-tone={value > 0 ? tone : undefined}>
          <dt>{name}</dt>
          <dd>{numberWords(value)}</dd>
        </div>
      ))}
    </dl>
  );
}

function Tests({ attestation }: { attestation: Attestation }) {
  const suites = testSuites(attestation);
  const sum = (key: "total" | "failures" | "errors" | "skipped"): number =>
    suites.reduce((total, suite) => total + suite[key], 0);
  if (suites.length === 0) return null;
  return (
    <section className={styles["part"]}>
      <h3>Tests</h3>
      <Numbers
        numbers={[
          ["Tests", sum("total")],
          ["Failures", sum("failures"), "bad"],
          ["Errors", sum("errors"), "bad"],
          ["Skipped", sum("skipped")],
        ]}
      />
      <Table
        label="Test suites"
        rows={suites}
        rowKey={({ name }, index) => `${name} ${index}`}
        columns={[
          { key: "name", head: "Suite", cell: ({ name }) => name },
          { key: "total", head: "Tests", isNumber: true, cell: ({ total }) => total },
          {
            key: "failed",
            head: "Failed",
            isNumber: true,
            cell: ({ failures, errors }) => failures + errors,
          },
          { key: "skipped", head: "Skipped", isNumber: true, cell: ({ skipped }) => skipped },
          {
            key: "took",
            head: "Took",
            isNumber: true,
            cell: (suite) => duration(Math.max(1, suite.duration)),
          },
        ]}
      />
    </section>
  );
}

const severityWords = { high: "High", medium: "Medium", low: "Low" } as const;

function Issues({ scan }: { scan: Scan }) {
  if (scan.issues.length === 0) return null;
  return (
    <Table
      label="Vulnerabilities"
      rows={scan.issues}
      rowKey={({ id }, index) => `${id} ${index}`}
      columns={[
        {
          key: "severity",
          head: "Severity",
          width: "90px",
          cell: ({ severity }) => severityWords[severity],
        },
        {
          key: "what",
          head: "What",
          cell: ({ id, message, places }) => (
            <>
              <strong>{id}</strong> {message}
              {places === "" ? null : (
                <>
                  <br />
                  <Quiet isSmall>{places}</Quiet>
                </>
              )}
            </>
          ),
        },
      ]}
    />
  );
}

function Scanned({ attestation }: { attestation: Attestation }) {
  const scan = scanOf(attestation);
  if (scan === undefined) return null;
  const { high, medium, low } = scan.counts;
  const found = high + medium + low;
  return (
    <section className={styles["part"]}>
      <h3>Scan by {scan.tool === "" ? "an unknown tool" : scan.tool}</h3>
      <Numbers
        numbers={[
          ["High", scan.counts.high, "bad"],
          ["Medium", scan.counts.medium, "bad"],
          ["Low", scan.counts.low, "bad"],
        ]}
      />
      <Issues scan={scan} />
      {found === scan.issues.length ? null : (
        <Quiet isSmall>
          {scan.issues.length} of {found} are told one by one; the others are counted only.
        </Quiet>
      )}
    </section>
  );
}

function Quality({ attestation }: { attestation: Attestation }) {
  const gate = qualityGateOf(attestation);
  if (gate === undefined) return null;
  return (
    <section className={styles["part"]}>
      <h3>Quality gate {gate.gate}</h3>
      <Facts
        facts={[
          [
            "Project",
            gate.url === "" ? (
              gate.project
            ) : (
              <ForeignLink key="project" address={gate.url}>
                {gate.project}
              </ForeignLink>
            ),
          ],
          ["Status", gate.status],
        ]}
      />
      {gate.conditions.length === 0 ? null : (
        <Table
          label="Conditions of the quality gate"
          rows={gate.conditions}
          rowKey={({ metric }, index) => `${metric} ${index}`}
          columns={[
            {
              key: "met",
              head: "Condition",
              cell: ({ metric, isMet }) => (
                <VerdictMark verdict={isMet ? "compliant" : "non-compliant"} words={metric} />
              ),
            },
            { key: "value", head: "Value", isNumber: true, cell: ({ value }) => value },
            { key: "limit", head: "Has to be", isNumber: true, cell: ({ limit }) => limit },
          ]}
        />
      )}
    </section>
  );
}

function PullRequests({ attestation }: { attestation: Attestation }) {
  const pulls = pullRequestsOf(attestation);
  if (pulls.length === 0) return null;
  return (
    <section className={styles["part"]}>
      <h3>Pull requests</h3>
      <Table
        label="Pull requests"
        rows={pulls}
        rowKey={({ url }, index) => `${url} ${index}`}
        columns={[
          {
            key: "url",
            head: "Pull request",
            cell: ({ url, title, author }) => (
              <>
                <ForeignLink address={url}>
                  {title === "" ? url.replace(/^https?:\/\/[^/]*\//, "") : title}
                </ForeignLink>
                {author === "" ? null : (
                  <>
                    <br />
                    <Quiet isSmall>by {author}</Quiet>
                  </>
                )}
              </>
            ),
          },
          { key: "state", head: "State", cell: ({ state }) => state.toLowerCase() },
          {
            key: "approvers",
            head: "Approved by",
            cell: ({ approvers }) => (approvers.length === 0 ? <Quiet>nobody</Quiet> : approvers.join(", ")),
          },
        ]}
      />
    </section>
  );
}

function Tickets({ attestation }: { attestation: Attestation }) {
  const issues = issuesOf(attestation);
  if (issues.length === 0) return null;
  return (
    <section className={styles["part"]}>
      <h3>Issues</h3>
      <ul className={styles["lines"]}>
        {issues.map(({ id, url, exists, summary }) => (
          <li key={id}>
            <VerdictMark
              verdict={exists ? "compliant" : "non-compliant"}
              words={exists ? "Exists" : "Does not exist"}
            />
            <ForeignLink address={url}>{id}</ForeignLink>
            <span>{summary}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Data({ org, attestation }: { org: string; attestation: Attestation }) {
  const lines = dataLines(attestation);
  const control = controlOf(attestation);
  if (lines.length === 0 && control === undefined) return null;
  return (
    <section className={styles["part"]}>
      <h3>{control === undefined ? "Data" : "Decision"}</h3>
      <Facts
        facts={[
          [
            "Control",
            control === undefined ? undefined : (
              <Link key="control" to="/$org/controls/$control" params={{ org, control }}>
                {control}
              </Link>
            ),
          ],
          ...lines,
        ]}
      />
    </section>
  );
}

interface AttestationDataProps {
  org: string;
  attestation: Attestation;
  /** Whether what a custom type shows of its data is asked for: one more request. */
  hasSummary?: boolean;
}

/** What an attestation is about, as its type has it. */
export function AttestationData({ org, attestation, hasSummary = true }: AttestationDataProps) {
  const judgement = customJudgementOf(attestation);
  return (
    <>
      <Tests attestation={attestation} />
      <Scanned attestation={attestation} />
      <Quality attestation={attestation} />
      <PullRequests attestation={attestation} />
      <Tickets attestation={attestation} />
      {judgement === undefined ? null : (
        <CustomData org={org} judgement={judgement} hasSummary={hasSummary} />
      )}
      <Data org={org} attestation={attestation} />
    </>
  );
}
