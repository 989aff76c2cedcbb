import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useCallback, useState } from "react";

import { useRefusal } from "../../api/account.ts";
import { commandPlace } from "../../api/place.ts";
import { allowCommand } from "../../domain/rule-commands.ts";
import { allowListExport } from "../../parts/allow-list.ts";
import { Commands } from "../../parts/Commands.tsx";
import { ExportMenu } from "../../parts/ExportMenu.tsx";
import { Fingerprint } from "../../parts/Fingerprint.tsx";
import { FailedToRead } from "../../parts/Loaded.tsx";
import { ArtifactLink } from "../../parts/ProcessLinks.tsx";
import { allowListQuery } from "../../parts/queries.ts";
import { PageHead } from "../../shell/PageHead.tsx";
import { Button } from "../../ui/Button.tsx";
import { Empty, NoMatch } from "../../ui/Empty.tsx";
import { Choice, FilterBar, SearchField } from "../../ui/Field.tsx";
import { Quiet, Wrapping } from "../../ui/Layout.tsx";
import { LongTable } from "../../ui/LongTable.tsx";
import { type Column, Table } from "../../ui/Table.tsx";
import { Time } from "../../ui/Time.tsx";
import { AllowDialog, DisallowDialog } from "./AllowDialog.tsx";
import { type Allowed } from "./queries.ts";

const route = getRouteApi("/$org/allow-list");

/** More rows than this are drawn only near the window. */
const manyRows = 200;

function columnsFor(
  org: string,
  refused: string | undefined,
  remove: (entry: Allowed) => void,
): Column<Allowed>[] {
  return [
    {
      key: "artifact",
      head: "Artifact",
      width: "28%",
      cell: ({ artifact_name, fingerprint }) => (
        <Wrapping>
          <ArtifactLink org={org} flow="" fingerprint={fingerprint} name={artifact_name} />
          <div>
            <Fingerprint value={fingerprint} />
          </div>
        </Wrapping>
      ),
    },
    {
      key: "environment",
      head: "Environment",
      width: "18%",
      cell: ({ environment_name }) => (
        <Link to="/$org/environments/$env" params={{ org, env: environment_name }}>
          {environment_name}
        </Link>
      ),
    },
    {
      key: "why",
      head: "Why",
      cell: ({ description }) =>
        description === "" ? <Quiet>no reason given</Quiet> : <Wrapping>{description}</Wrapping>,
    },
    { key: "by", head: "By", isOptional: true, width: "130px", cell: ({ user_name }) => user_name },
    { key: "when", head: "When", width: "110px", cell: ({ timestamp }) => <Time at={timestamp} /> },
    {
      key: "remove",
      head: <span className="visually-hidden">Action</span>,
      isNumber: true,
      width: "60px",
      cell: (entry) => (
        <Button
          look="quiet"
          icon="trash"
          aria-label={`Remove ${entry.artifact_name} in ${entry.environment_name}`}
          refused={refused}
          onClick={() => remove(entry)}
        />
      ),
    },
  ];
}

function isWanted(entry: Allowed, words: string, environment: string | undefined): boolean {
  if (environment !== undefined && entry.environment_name !== environment) return false;
  const { artifact_name, fingerprint, user_name, description } = entry;
  return `${artifact_name} ${fingerprint} ${user_name} ${description}`.toLowerCase().includes(words);
}

function Listed({ entries }: { entries: readonly Allowed[] | undefined }) {
  const { org } = route.useParams();
  const { q = "", environment } = route.useSearch();
  const navigate = route.useNavigate();
  const [removed, remove] = useState<Allowed>();
  const columns = columnsFor(
    org,
    useRefusal(org, "DELETE /allowlists/{org}/{env_name}/{fingerprint}"),
    remove,
  );
  const search = useCallback(
    (text: string) =>
      void navigate({
        search: (before) => ({ ...before, q: text === "" ? undefined : text }),
        replace: true,
      }),
    [navigate],
  );
  const rows = entries?.filter((entry) => isWanted(entry, q.toLowerCase(), environment));
  const environments = [...new Set(entries?.map((entry) => entry.environment_name))].toSorted();
  const table = {
    label: "Allowed artifacts",
    columns,
    rowKey: ({ environment_name, fingerprint }: Allowed) => `${environment_name} ${fingerprint}`,
  };
  return (
    <>
      <FilterBar>
        <SearchField label="Filter by artifact, person or reason" value={q} onSearch={search} />
        <Choice
          label="Environment"
          value={environment}
          choices={environments.map((one) => [one, one] as const)}
          onChoose={(chosen) => void navigate({ search: (before) => ({ ...before, environment: chosen }) })}
        />
        {rows === undefined ? null : <ExportMenu list={allowListExport(org, rows)} />}
      </FilterBar>
      {rows?.length === 0 ? (
        <NoMatch
          title="Nothing matches"
          text="Nothing that is allowed is as the filters say."
          onClear={() => void navigate({ search: {} })}
        />
      ) : rows !== undefined && rows.length > manyRows ? (
        <LongTable {...table} rows={rows} />
      ) : (
        <Table {...table} rows={rows} expectedRows={4} />
      )}
      {removed === undefined ? null : (
        <DisallowDialog org={org} entry={removed} onClose={() => remove(undefined)} />
      )}
    </>
  );
}

function Allow() {
  const { org } = route.useParams();
  const refused = useRefusal(org, "PUT /allowlists/{org}/{env_name}");
  const [isOpen, open] = useState(false);
  return (
    <>
      <Button look="primary" icon="plus" refused={refused} onClick={() => open(true)}>
        Allow an artifact
      </Button>
      {isOpen ? <AllowDialog org={org} onClose={() => open(false)} /> : null}
    </>
  );
}

/** What is trusted in which environment: by whom, since when and why. */
export function AllowList() {
  const { org } = route.useParams();
  const query = useQuery(allowListQuery(org));
  const { data, error } = query;
  return (
    <>
      <PageHead
        title="Allow-list"
        about={<span>No rule applies to these artifacts where they are allowed.</span>}
        actions={<Allow />}
      />
      {error !== null && data === undefined ? (
        <FailedToRead error={error} retry={() => void query.refetch()} />
      ) : data?.length === 0 ? (
        <Empty
          title="Nothing is allowed"
          text="Every artifact has to do what policies ask. One that you trust all the same can be allowed in an environment, with a reason."
        >
          <Commands command={allowCommand(commandPlace(org))} label="command that allows an artifact" />
        </Empty>
      ) : (
        <Listed entries={data} />
      )}
    </>
  );
}
