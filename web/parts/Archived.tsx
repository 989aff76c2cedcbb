import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";

import { alone, ask } from "../api/queries.ts";
import { Empty } from "../ui/Empty.tsx";
import { ErrorNote } from "../ui/ErrorNote.tsx";
import { Time } from "../ui/Time.tsx";
import { Waiting } from "../ui/Waiting.tsx";
import styles from "./Archived.module.css";

/** The most that is shown of environments that had the same name one after the other. */
const shown = 20;

/** What the name of an archived environment begins with. */
const beginning = (name: string): string => `${name}-archived-at-`;

function archivedQuery(org: string, name: string) {
  const query = {
    name: beginning(name),
    archived: true,
    page: 1,
    per_page: shown,
    sort: "last_modified_at" as const,
    sort_direction: "desc" as const,
  };
  return alone(ask("GET /environments/{org}", { params: { org }, query }));
}

/** Leads from the name that an environment had to its records. */
export function Archived({ name }: { name: string }) {
  const { org = "" } = useParams({ strict: false });
  const query = useQuery(archivedQuery(org, name));
  const { data, error } = query;
  if (data === undefined)
    return error === null ? <Waiting /> : <ErrorNote failure={error} retry={() => void query.refetch()} />;
  // The list is asked for names that have this anywhere.
  const found = (Array.isArray(data) ? [] : data.environments).filter((one) =>
    one.name.startsWith(beginning(name)),
  );
  return (
    <Empty
      title={`${name} was archived`}
      text="Nothing is reported on it any more. What was reported is kept, under the name it has in the archive."
    >
      <ul className={styles["found"]}>
        {found.map(({ name: env, archived_at, archived_by }) => (
          <li key={env}>
            <Link to="/$org/environments/$env" params={{ org, env }}>
              {env}
            </Link>
            <span>
              archived <Time at={archived_at} />
              {typeof archived_by === "string" ? ` by ${archived_by}` : ""}
            </span>
          </li>
        ))}
      </ul>
    </Empty>
  );
}
