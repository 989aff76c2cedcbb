import { Card } from "../../ui/Layout.tsx";
import { Time } from "../../ui/Time.tsx";
import styles from "./Policies.module.css";
import type { Policy } from "./queries.ts";

type PolicyEvent = Policy["events"][number];

const words: Readonly<Record<PolicyEvent["type"], string>> = {
  creation: "made it",
  metadata_update: "changed its description",
  new_version: "wrote a new version",
  renaming: "renamed it",
  archiving: "archived it",
};

/** What an event left behind, as far as it says so. */
function left({ data: { version, description } }: PolicyEvent): string {
  if (typeof version === "number") return `, version ${version}`;
  return typeof description === "string" && description !== "" ? `: ${description}` : "";
}

/** Who did what to a policy, the latest first. */
export function PolicyHistory({ policy: { events } }: { policy: Policy }) {
  return (
    <Card title="Who changed it">
      <ol className={styles["history"]}>
        {events.toReversed().map((event, index) => (
          <li key={`${event.timestamp} ${event.type} ${events.length - index}`}>
            <span>
              <b>{event.user}</b> {words[event.type]}
              {left(event)}
            </span>
            <Time at={event.timestamp} />
          </li>
        ))}
      </ol>
    </Card>
  );
}
