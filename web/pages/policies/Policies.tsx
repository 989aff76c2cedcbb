import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useCallback } from "react";

import { commandPlace } from "../../api/place.ts";
import { policyCommand } from "../../domain/rule-commands.ts";
import { Commands } from "../../parts/Commands.tsx";
import { ExportMenu } from "../../parts/ExportMenu.tsx";
import { FailedToRead } from "../../parts/Loaded.tsx";
import { MakeLink } from "../../parts/MakeLink.tsx";
import { OrByCommand } from "../../parts/NewThing.tsx";
import { policiesQuery } from "../../parts/queries.ts";
import { PageHead } from "../../shell/PageHead.tsx";
import { Empty, NoMatch } from "../../ui/Empty.tsx";
import { FilterBar, SearchField } from "../../ui/Field.tsx";
import { OneLine, Quiet } from "../../ui/Layout.tsx";
import { type Column, Table } from "../../ui/Table.tsx";
import { Time } from "../../ui/Time.tsx";
import { policiesExport } from "./exports.ts";
import { type Policy } from "./queries.ts";

const route = getRouteApi("/$org/policies");

function useColumns(): Column<Policy>[] {
  const { org } = route.useParams();
  return [
    {
      key: "name",
      head: "Name",
      cell: ({ name, description }) => (
        <>
          <Link to="/$org/policies/$policy" params={{ org, policy: name }}>
            <strong>{name}</strong>
          </Link>
          <Quiet isSmall>
            <OneLine text={description === "" ? "no description" : description} />
          </Quiet>
        </>
      ),
    },
    {
      key: "environments",
      head: "Environments",
      isNumber: true,
      width: "120px",
      cell: ({ name, consuming_envs }) =>
        consuming_envs.length === 0 ? (
          <Quiet>none</Quiet>
        ) : (
          <Link to="/$org/environments" params={{ org }} search={{ policy: name }}>
            {consuming_envs.length}
          </Link>
        ),
    },
    {
      key: "version",
      head: "Version",
      isNumber: true,
      isOptional: true,
      width: "90px",
      cell: ({ name, versions }) => (
        <Link to="/$org/policies/$policy" params={{ org, policy: name }} search={{ tab: "versions" }}>
          {versions.at(-1)?.version ?? 0}
        </Link>
      ),
    },
    {
      key: "changed",
      head: "Changed",
      width: "120px",
      cell: ({ last_modified_at }) => <Time at={last_modified_at} />,
    },
    {
      key: "by",
      head: "By",
      isOptional: true,
      width: "180px",
      cell: ({ versions, created_by }) => versions.at(-1)?.created_by ?? created_by,
    },
  ];
}

function NoPolicies() {
  const { org } = route.useParams();
  return (
    <Empty
      title="No policies yet"
      text="A policy says what artifacts have to fulfil where they run. Attached to an environment, it judges everything there."
    >
      <OrByCommand>
        <MakeLink org={org} page="policies" />
      </OrByCommand>
      <Commands
        command={policyCommand(commandPlace(org), "production")}
        label="command that makes a policy"
      />
    </Empty>
  );
}

function Listed({ policies }: { policies: readonly Policy[] | undefined }) {
  const { org } = route.useParams();
  const { q = "" } = route.useSearch();
  const navigate = route.useNavigate();
  const columns = useColumns();
  const search = useCallback(
    (text: string) => void navigate({ search: { q: text === "" ? undefined : text }, replace: true }),
    [navigate],
  );
  const wanted = q.toLowerCase();
  const shown = policies?.filter(({ name, description }) =>
    `${name} ${description}`.toLowerCase().includes(wanted),
  );
  return (
    <>
      <FilterBar>
        <SearchField label="Filter by name or description" value={q} onSearch={search} />
        {shown === undefined ? null : <ExportMenu list={policiesExport(org, shown)} />}
      </FilterBar>
      {shown?.length === 0 ? (
        <NoMatch
          title="No policy matches"
          text="None has this in its name or description."
          onClear={() => void navigate({ search: {} })}
        />
      ) : (
        <Table label="Policies" columns={columns} rows={shown} rowKey={({ name }) => name} expectedRows={4} />
      )}
    </>
  );
}

/** The list of policies. */
export function Policies() {
  const { org } = route.useParams();
  const query = useQuery(policiesQuery(org));
  const { data, error } = query;
  return (
    <>
      <PageHead title="Policies" actions={<MakeLink org={org} page="policies" />} />
      {error !== null && data === undefined ? (
        <FailedToRead error={error} retry={() => void query.refetch()} />
      ) : data?.length === 0 ? (
        <NoPolicies />
      ) : (
        <Listed policies={data} />
      )}
    </>
  );
}
