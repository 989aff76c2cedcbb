import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";

import { pageOfData } from "../../api/page.ts";
import { periodWords } from "../../domain/periods.ts";
import { momentWords } from "../../domain/times.ts";
import { environmentTypeWords } from "../../parts/environments.ts";
import { EventTable } from "../../parts/EventTable.tsx";
import { ExportMenu } from "../../parts/ExportMenu.tsx";
import { FailedToRead } from "../../parts/Loaded.tsx";
import { TagChoice } from "../../parts/TagChoice.tsx";
import { PageHead } from "../../shell/PageHead.tsx";
import { Button } from "../../ui/Button.tsx";
import { Choice, FilterBar } from "../../ui/Field.tsx";
import { Pager } from "../../ui/Pager.tsx";
import { useNow } from "../../ui/Time.tsx";
import styles from "./Changes.module.css";
import { changesExport } from "./exports.ts";
import { type Changes as ChangesAnswer, changesQuery, changesSince } from "./queries.ts";

const route = getRouteApi("/$org/changes");

const periodChoices = [
  ["1h", periodWords["1h"]],
  ["yesterday", "since yesterday"],
  ["7d", periodWords["7d"]],
] as const;
const typeChoices = Object.entries(environmentTypeWords) as [keyof typeof environmentTypeWords, string][];
const kinds = [
  ["started", "started"],
  ["exited", "exited"],
  ["changed", "changed"],
  ["verdict", "verdict changed"],
] as const;

/** Texts that filter; each can be taken away. */
const named = ["environment", "flow", "repo"] as const;

function Filters({ isReady }: { isReady: boolean }) {
  const { org } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <FilterBar>
      <Choice
        label="Time"
        all="last 24 hours"
        value={search.since === "24h" ? undefined : search.since}
        choices={periodChoices}
        onChoose={(since) =>
          void navigate({
            search: (before) => ({ ...before, since, page: undefined }),
          })
        }
      />
      <Choice
        label="Type"
        value={search.type}
        choices={typeChoices}
        onChoose={(type) => void navigate({ search: (before) => ({ ...before, type, page: undefined }) })}
      />
      <TagChoice
        org={org}
        value={search.tag}
        isReady={isReady}
        onChoose={(tag) => void navigate({ search: (before) => ({ ...before, tag, page: undefined }) })}
      />
      {named.map((name) =>
        search[name] === undefined ? null : (
          <Button
            key={name}
            icon="close"
            aria-label={`Without the filter for ${name} ${search[name]}`}
            onClick={() =>
              void navigate({ search: (before) => ({ ...before, [name]: undefined, page: undefined }) })
            }
          >
            {name}: {search[name]}
          </Button>
        ),
      )}
    </FilterBar>
  );
}

function Kinds({ counts }: { counts: ChangesAnswer["counts"] | undefined }) {
  const { org } = route.useParams();
  const search = route.useSearch();
  return (
    <ul className={styles["kinds"]}>
      {kinds.map(([kind, words]) => {
        const isOn = search.kind === kind;
        return (
          <li key={kind}>
            <Link
              to="/$org/changes"
              params={{ org }}
              search={{ ...search, kind: isOn ? undefined : kind, page: undefined }}
              className={styles["kind"]}
              data-on={isOn}
              aria-current={isOn ? "true" : undefined}
            >
              <strong>{counts?.by_kind[kind] ?? "–"}</strong>
              {words}
            </Link>
          </li>
        );
      })}
    </ul>
  );
}

function ByEnvironment({ counts }: { counts: ChangesAnswer["counts"] }) {
  const { org } = route.useParams();
  const search = route.useSearch();
  if (counts.by_environment.length < 2) return null;
  return (
    <nav aria-label="By environment" className={styles["where"]}>
      <h2>By environment</h2>
      <ul>
        {counts.by_environment.slice(0, 15).map(({ environment_name, count }) => (
          <li key={environment_name}>
            <Link
              to="/$org/changes"
              params={{ org }}
              search={{ ...search, environment: environment_name, page: undefined }}
            >
              {environment_name}
            </Link>
            <span>{count}</span>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function Nothing() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const now = useNow(60_000);
  const start = momentWords(changesSince(search.since, search.until ?? now), now);
  const { since: _since, page: _page, ...filters } = search;
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <div className={styles["nothing"]}>
      <p>
        Nothing {isFiltered ? "like this " : ""}changed since {start}
      </p>
      {isFiltered ? (
        <Button onClick={() => void navigate({ search: { since: search.since } })}>Clear the filters</Button>
      ) : (
        <span>Every environment runs what it ran then, with the same verdicts.</span>
      )}
    </div>
  );
}

/** What changed in all environments since some time. */
export function Changes() {
  const { org } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const now = useNow(60_000);
  const query = useQuery(changesQuery(org, search, now));
  const { data, error } = query;
  const page = data === undefined ? undefined : pageOfData(data);
  return (
    <>
      <PageHead
        title="Changes"
        asOf={search.until ?? now}
        actions={<ExportMenu list={changesExport(org, search, now)} />}
      />
      <Filters isReady={data !== undefined} />
      {error !== null && data === undefined ? (
        <FailedToRead error={error} retry={() => void query.refetch()} />
      ) : (
        <>
          <Kinds counts={data?.counts} />
          {page?.total === 0 ? (
            <Nothing />
          ) : (
            <div className={styles["split"]}>
              {data === undefined ? null : <ByEnvironment counts={data.counts} />}
              <div>
                <EventTable org={org} events={page?.items} hasEnvironments isOld={query.isPlaceholderData} />
                {page === undefined ? null : (
                  <Pager
                    {...page}
                    count={page.items.length}
                    onPage={(number) => void navigate({ search: (before) => ({ ...before, page: number }) })}
                  />
                )}
              </div>
            </div>
          )}
        </>
      )}
    </>
  );
}
