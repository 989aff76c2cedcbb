import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import type { CustomJudgement } from "../../domain/attestation-data.ts";
import { shownValue } from "../../domain/json-text.ts";
import { summaryValue } from "../../domain/summary-values.ts";
import { verdictOfFlag } from "../../domain/verdict.ts";
import { VerdictMark } from "../../parts/Verdict.tsx";
import { Facts, Quiet } from "../../ui/Layout.tsx";
import { typeVersionQuery } from "./queries.ts";
import styles from "./Trails.module.css";

/** Of a list so many are shown; all stand in the data. */
const mostShown = 20;

/** What the type shows of its data, of each element of a list. What takes more than this page can work out is left to the data below. */
function Summary({ org, judgement: { type, version, data } }: CustomDataProps) {
  const { data: found } = useQuery(typeVersionQuery(org, type, version));
  const summary = found?.versions[0]?.summary ?? [];
  const elements: readonly unknown[] = Array.isArray(data) ? data.slice(0, mostShown) : [data];
  const groups = elements.map((element) =>
    summary.flatMap(({ name, expression }) => {
      const value = summaryValue(expression, element);
      return value === undefined ? [] : [[name, shownValue(value)] as const];
    }),
  );
  if (groups.every((lines) => lines.length === 0)) return null;
  return (
    <section className={styles["part"]}>
      <h3>Summary</h3>
      {groups.map((lines, index) => (
        // oxlint-disable-next-line react/no-array-index-key -- elements have no names and never move
        <Facts key={index} facts={lines} />
      ))}
    </section>
  );
}

interface CustomDataProps {
  org: string;
  judgement: CustomJudgement;
}

interface CustomDataOptions extends CustomDataProps {
  /** Whether to ask for what the type shows of its data. */
  hasSummary: boolean;
}

/** What a custom type made of its data: what it shows of them, and which of its rules hold. */
export function CustomData({ org, judgement, hasSummary }: CustomDataOptions) {
  const { type, version, rules } = judgement;
  return (
    <>
      {hasSummary ? <Summary org={org} judgement={judgement} /> : null}
      <section className={styles["part"]}>
        <h3>Rules</h3>
        <p className={styles["judgedBy"]}>
          <Quiet>judged by </Quiet>
          <Link to="/$org/attestation-types/$type" params={{ org, type }} search={{ version }}>
            version {version} of {type}
          </Link>
        </p>
        {rules.length === 0 ? (
          <Quiet>It has no rules: what fits its schema complies.</Quiet>
        ) : (
          <ul className={styles["rules"]}>
            {rules.map(({ rule, passed, error }, index) => (
              // oxlint-disable-next-line react/no-array-index-key -- rules may be equal and never move
              <li key={index}>
                <VerdictMark verdict={verdictOfFlag(passed)} words={passed ? "Holds" : "Fails"} />
                <span>
                  <code>{rule}</code>
                  {error === "" ? null : <Quiet isSmall> {error}</Quiet>}
                </span>
              </li>
            ))}
          </ul>
        )}
      </section>
    </>
  );
}
