import { Link } from "@tanstack/react-router";

import { VerdictMark } from "../../parts/Verdict.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { Card, Quiet } from "../../ui/Layout.tsx";
import { Time } from "../../ui/Time.tsx";
import type { Overview } from "./queries.ts";
import styles from "./Start.module.css";

type Item = Overview["attention"][number];

/** Says what is wrong in an environment, and leads to what is. */
function Reason({ org, item }: { org: string; item: Item }) {
  const { environment_name: env, failing_artifacts: failing, reason } = item;
  if (reason === "stale")
    return (
      <span className={styles["silent"]}>
        <Icon name="silence" size={14} />
        silent
      </span>
    );
  const words = failing === 0 ? "Non-compliant" : `${failing} ${failing === 1 ? "fails" : "fail"}`;
  return (
    <Link to="/$org/environments/$env" params={{ org, env }} search={{ verdict: "non-compliant" }}>
      <VerdictMark verdict="non-compliant" words={words} />
    </Link>
  );
}

/** The environments that need somebody, the worst first. */
export function Attention({ org, items }: { org: string; items: readonly Item[] | undefined }) {
  return (
    <Card title="Needs attention">
      {items === undefined ? (
        <div className={styles["room"]} aria-busy="true" />
      ) : items.length === 0 ? (
        <p className={styles["well"]}>
          <Icon name="check" />
          Nothing does: every judged environment is compliant, and every reporter reports.
        </p>
      ) : (
        <ul className={styles["list"]}>
          {items.map((item) => (
            <li key={`${item.reason} ${item.environment_name}`}>
              <Link to="/$org/environments/$env" params={{ org, env: item.environment_name }}>
                <strong>{item.environment_name}</strong>
              </Link>
              <Reason org={org} item={item} />
              <Quiet isSmall>{item.since === null ? "" : <Time at={item.since} />}</Quiet>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}
