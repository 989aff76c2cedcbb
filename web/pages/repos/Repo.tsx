import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";

import { FailedToRead } from "../../parts/Loaded.tsx";
import { ForeignLink } from "../../parts/ForeignLink.tsx";
import { Crumb, PageHead } from "../../shell/PageHead.tsx";
import { Choice } from "../../ui/Field.tsx";
import { Tag } from "../../ui/Layout.tsx";
import { RepoBuilds } from "./RepoBuilds.tsx";
import { type Repo as RepoAnswer, repoQuery, type RepoSearch } from "./queries.ts";
import { RepoReleases } from "./RepoReleases.tsx";
import { RepoRuns } from "./RepoRuns.tsx";
import styles from "./Repos.module.css";
import { providerWords } from "./words.ts";

const route = getRouteApi("/$org/repos/$");

const tabs = [
  ["build", "Build"],
  ["release", "Release"],
  ["run", "Run"],
] as const;

const periods = [
  ["7", "7 days"],
  ["14", "14 days"],
  ["90", "90 days"],
] as const;

function About({ repo }: { repo: RepoAnswer }) {
  const { url, provider, description, tags } = repo;
  return (
    <>
      <ForeignLink address={url} />
      <span>{providerWords(provider)}</span>
      {description === null ? null : <span>{description}</span>}
      {Object.entries(tags).map(([key, value]) => (
        <Tag key={key}>{value === "" ? key : `${key}: ${value}`}</Tag>
      ))}
    </>
  );
}

function Head({ repo }: { repo: RepoAnswer | undefined }) {
  const { org, _splat: name = "" } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { tab = "build", days } = search;
  return (
    <PageHead
      title={name}
      crumbs={
        <Crumb>
          <Link to="/$org/repos" params={{ org }}>
            Repos
          </Link>
        </Crumb>
      }
      about={repo === undefined ? <span>&nbsp;</span> : <About repo={repo} />}
      actions={
        tab === "run" ? undefined : (
          <Choice
            label="Period"
            all="28 days"
            value={days === "28" ? undefined : days}
            choices={periods}
            onChoose={(chosen) =>
              void navigate({ search: (before) => ({ ...before, days: chosen, page: undefined }) })
            }
          />
        )
      }
      tabs={tabs.map(([one, words]) => (
        <Link
          key={one}
          to="/$org/repos/$"
          params={{ org, _splat: name }}
          search={{ ...search, tab: one === "build" ? undefined : one, page: undefined }}
          activeOptions={{ exact: true }}
          aria-current={one === tab ? "page" : undefined}
        >
          {words}
        </Link>
      ))}
    />
  );
}

/** A repo: how often it is built and deployed, how long that takes, and what of it runs where. */
export function Repo() {
  const { org, _splat: name = "" } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery(repoQuery(org, name, search.id));
  const { data: repo, error } = query;
  const onSearch = (change: RepoSearch): void =>
    void navigate({ search: (before) => ({ ...before, ...change }), resetScroll: false });
  const { tab = "build" } = search;
  const Part = { build: RepoBuilds, release: RepoReleases, run: RepoRuns }[tab];
  return (
    <>
      <Head repo={repo} />
      {repo !== undefined ? (
        <Part org={org} repo={repo} search={search} onSearch={onSearch} />
      ) : error === null ? (
        <div className={styles["room"]} aria-busy="true" />
      ) : (
        <FailedToRead error={error} retry={() => void query.refetch()} />
      )}
    </>
  );
}
