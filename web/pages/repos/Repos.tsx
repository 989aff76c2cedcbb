import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useCallback } from "react";

import { pageOfHead } from "../../api/page.ts";
import { commandPlace } from "../../api/place.ts";
import { artifactCommand, sampleFingerprint } from "../../domain/commands.ts";
import { Commands } from "../../parts/Commands.tsx";
import { ExportMenu } from "../../parts/ExportMenu.tsx";
import { ForeignLink } from "../../parts/ForeignLink.tsx";
import { PagedList } from "../../parts/PagedList.tsx";
import { PageHead } from "../../shell/PageHead.tsx";
import { Empty, NoMatch } from "../../ui/Empty.tsx";
import { Choice, FilterBar, SearchField } from "../../ui/Field.tsx";
import { OneLine, Quiet, Tags } from "../../ui/Layout.tsx";
import { type Column, Table } from "../../ui/Table.tsx";
import { Time } from "../../ui/Time.tsx";
import { reposExport } from "./exports.ts";
import { providers, reposQuery, type reposSearch } from "./queries.ts";
import { repoOptionsQuery } from "./tab-queries.ts";
import styles from "./Repos.module.css";
import { providerWords } from "./words.ts";

const route = getRouteApi("/$org/repos/");
type Search = ReturnType<typeof reposSearch>;
type Repo = NonNullable<ReturnType<typeof useRepos>["page"]>["items"][number];

function useRepos() {
  const { org } = route.useParams();
  const search = route.useSearch();
  const query = useQuery(reposQuery(org, search));
  return { query, page: query.data === undefined ? undefined : pageOfHead(query.data, query.data.repos) };
}

const momentOf = (iso: string | null): number | null => (iso === null ? null : Date.parse(iso) / 1000);

function columnsOf(org: string): Column<Repo>[] {
  return [
    {
      key: "name",
      head: "Repo",
      cell: ({ name, description, id }) => (
        <>
          <Link to="/$org/repos/$" params={{ org, _splat: name }} search={{ id }} className={styles["name"]}>
            {name}
          </Link>
          {description === null ? null : (
            <Quiet isSmall>
              <OneLine text={description} />
            </Quiet>
          )}
        </>
      ),
    },
    {
      key: "provider",
      head: "Kept at",
      isOptional: true,
      cell: ({ provider, url }) => (
        <>
          <ForeignLink address={url} />
          <Quiet isSmall> {providerWords(provider)}</Quiet>
        </>
      ),
    },
    { key: "tags", head: "Tags", isOptional: true, cell: ({ tags }) => <Tags tags={tags} /> },
    {
      key: "activity",
      head: "Last build",
      width: "120px",
      cell: ({ latest_activity }) => <Time at={momentOf(latest_activity)} />,
    },
  ];
}

function useFilter(): (change: Search, replace?: boolean) => void {
  const navigate = route.useNavigate();
  return useCallback(
    (change, replace = false) =>
      void navigate({ search: (before) => ({ ...before, page: undefined, ...change }), replace }),
    [navigate],
  );
}

function Filters() {
  const { org } = route.useParams();
  const { search, provider, namespace } = route.useSearch();
  const filter = useFilter();
  const { data } = useQuery(repoOptionsQuery(org));
  const type = useCallback(
    (text: string) => filter({ search: text === "" ? undefined : text }, true),
    [filter],
  );
  const spaces = new Set([
    ...(data?.namespace_values ?? []),
    ...(namespace === undefined ? [] : [namespace]),
  ]);
  const known = new Set([...(data?.providers ?? []), ...(provider === undefined ? [] : [provider])]);
  return (
    <FilterBar>
      <SearchField label="Filter by name" value={search ?? ""} onSearch={type} />
      <Choice<string>
        label="Kept at"
        value={provider}
        choices={[...known].map((one) => [one, providerWords(one)] as const)}
        onChoose={(chosen) => filter({ provider: providers(chosen) })}
      />
      <Choice<string>
        label="Namespace"
        value={namespace}
        choices={[...spaces].map((one) => [one, one] as const)}
        onChoose={(chosen) => filter({ namespace: chosen })}
      />
    </FilterBar>
  );
}

function None() {
  const { org } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  if (Object.values(search).some((value) => value !== undefined))
    return (
      <NoMatch
        title="No repo matches"
        text="None of this organization's repos is as the filters say."
        onClear={() => void navigate({ search: {} })}
      />
    );
  return (
    <Empty
      title="No repos yet"
      text="A repo is known as soon as a pipeline reports an artifact or a trail that was built from it."
    >
      <Commands
        label="command that reports an artifact"
        command={artifactCommand(commandPlace(org), {
          flow_name: "my-flow",
          fingerprint: sampleFingerprint,
          filename: "my-artifact",
        })}
      />
    </Empty>
  );
}

/** The list of repos. */
export function Repos() {
  const { org } = route.useParams();
  const search = route.useSearch();
  const { query, page } = useRepos();
  const filter = useFilter();
  return (
    <>
      <PageHead title="Repos" actions={<ExportMenu list={reposExport(org, search)} />} />
      <Filters />
      <PagedList query={query} page={page} empty={<None />} onPage={(number) => filter({ page: number })}>
        {(rows, isOld) => (
          <Table label="Repos" columns={columnsOf(org)} rows={rows} rowKey={({ id }) => id} isOld={isOld} />
        )}
      </PagedList>
    </>
  );
}
